import MLS
import Marmot
import Nostr

/// Creates valid and damaged key package events of the second generation for one account.
struct ComponentPackageMaker {
    static let slot = String(repeating: "cd", count: 32)

    let keys: KeyPair

    /// Parameters of a key package, besides its keys.
    struct Recipe {
        var extensions = LeafSupport.standard.extensions
        var proposals = LeafSupport.standard.proposals
        var components = LeafSupport.standard.components
        var lifetime = KeyPackageSchedule.lifetime(now: KeyPackageMaker.now)
        var isLastResort = true
        /// Whether the proof authorises the leaf's key; otherwise another one.
        var provesKey = true
    }

    func package(_ recipe: Recipe = Recipe()) throws -> KeyPackage {
        var generator = SystemRandomNumberGenerator()
        let suite = CipherSuite.x25519AES128GCM
        let key = try SignaturePrivateKey.generate(suite, using: &generator)
        let other = try SignaturePrivateKey.generate(suite, using: &generator)
        let proof = try AccountProof.make(
            for: recipe.provesKey ? key.publicKey : other.publicKey, by: keys, now: KeyPackageMaker.now,
            using: &generator)
        let list = recipe.components.sorted().flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        let leaf = AppDataDictionary([
            .appComponents: [UInt8(list.count)] + list, ComponentID(rawValue: 0x8009): proof.encoded,
        ])
        return try KeyPackageBundle.generate(
            suite, credential: keys.publicKey.credential,
            capabilities: Capabilities(
                cipherSuites: [suite.rawValue], extensions: recipe.extensions, proposals: recipe.proposals),
            lifetime: recipe.lifetime, signatureKey: key,
            extensions: recipe.isLastResort ? [AppDataDictionary([.lastResortKeyPackage: []]).asExtension] : [],
            leafExtensions: [leaf.asExtension], using: &generator
        ).keyPackage
    }

    func draft(
        _ recipe: Recipe = Recipe(), at time: UnixTime = KeyPackageMaker.now, slot: String = slot
    ) throws -> UnsignedEvent {
        try PublishedKeyPackage(try package(recipe), components: recipe.components, slot: slot)
            .draft(by: keys.publicKey, now: time)
    }

    func sign(_ draft: UnsignedEvent) -> Event {
        var generator = SystemRandomNumberGenerator()
        return draft.signed(by: keys, using: &generator)
    }

    func good(at time: UnixTime = KeyPackageMaker.now, slot: String = slot) throws -> Event {
        var recipe = Recipe()
        recipe.lifetime = KeyPackageSchedule.lifetime(now: time)
        return sign(try draft(recipe, at: time, slot: slot))
    }

    /// Returns the list of write relays, kind 10002.
    func writeRelays(_ relays: RelayURL..., at time: UnixTime = KeyPackageMaker.now) -> Event {
        sign(RelayList(read: relays, write: relays).unsigned(by: keys.publicKey, now: time))
    }
}
