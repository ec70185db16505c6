import BotTesting
import MLS
import Nostr

@testable import Marmot

/// A throw-away account that is invited to groups but never runs, so that its private keys can be exported together with
/// everything that the members send.
struct PaperMember {
    let keys: KeyPair
    private let bundle: KeyPackageBundle
    private let keyPackage: Event
    /// The events by which others can invite it.
    let events: [Event]

    init(seed: UInt64, relays: [RelayURL], now: UnixTime) throws {
        var random = SeededGenerator(seed: seed, stream: "paper member")
        self.keys = KeyPair.generate(using: &random)
        let device = try DeviceKey.generate(for: self.keys, now: now, using: &random)
        self.bundle = try device.keyPackage(now: now, using: &random)
        let slot = Hex.encode(Bytes32.random(using: &random).bytes)
        self.keyPackage = try DeviceKey.announcement(of: self.bundle.keyPackage, slot: slot)
            .draft(by: self.keys.publicKey, now: now).signed(by: self.keys, using: &random)
        let list = RelayList(read: relays, write: relays).unsigned(by: self.keys.publicKey, now: now)
        self.events = [
            self.keyPackage, list.signed(by: self.keys, using: &random),
            RelayListEvents.event(.inboxRelays, relays: relays, by: self.keys, now: now, using: &random),
        ]
    }

    /// The private keys, in the form of the verifier.
    var json: JSONValue {
        get throws {
            [
                "seckey": .string(Hex.encode(self.keys.secretBytes)),
                "init_private": .string(Hex.encode(self.bundle.initKey.secret.copyBytes())),
                "encryption_private": .string(Hex.encode(self.bundle.encryptionKey.secret.copyBytes())),
                "signature_private": .string(Hex.encode(self.bundle.signatureKey.secret.copyBytes())),
                "key_package_events": ["30443": try JSONValue(json: self.keyPackage.json())],
            ]
        }
    }
}
