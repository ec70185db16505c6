import MLS
import Marmot
import Nostr

/// Other accounts with published key packages.
struct Crowd {
    static let relay = "wss://relay.example.com"
    static let slot = String(repeating: "5e", count: 32)

    struct Package {
        let publicKey: PublicKey
        let bundle: KeyPackageBundle
        let createdAt: UnixTime
        /// The signed event of kind 30443.
        let json: [UInt8]
    }

    let packages: [Package]

    init(_ count: Int, now: UnixTime) throws {
        var rng = SystemRandomNumberGenerator()
        let relay = try RelayURL(Self.relay)
        self.packages = try (0..<count).map { _ in
            let key = KeyPair.generate(using: &rng)
            let bundle = try KeyPackageEvents.makeBundle(for: key.publicKey, now: now, using: &rng)
            let event = KeyPackageEvents.events(
                for: bundle.keyPackage, slot: Self.slot, relays: [relay], client: Account.client, by: key, now: now,
                using: &rng
            ).addressable
            return Package(publicKey: key.publicKey, bundle: bundle, createdAt: now, json: event.json())
        }
    }
}
