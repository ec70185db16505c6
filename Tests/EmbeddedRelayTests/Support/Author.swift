import LiveTesting
import Nostr

/// A key that signs events for tests.
struct Author: Sendable {
    static let alice = Author(seed: 1)
    static let bob = Author(seed: 2)

    let keys: KeyPair

    init(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        keys = KeyPair.generate(using: &generator)
    }

    var publicKey: PublicKey { keys.publicKey }

    func event(
        _ content: String = "", kind: Kind = 1, at createdAt: UnixTime = 1_700_000_000, tags: [Tag] = []
    ) -> Event {
        var generator = SplitMix64(seed: 3)
        let unsigned = UnsignedEvent(
            pubkey: publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
        return unsigned.signed(by: keys, using: &generator)
    }

    func login(_ challenge: String, at address: String, now: UnixTime) throws -> Event {
        var generator = SplitMix64(seed: 4)
        return NIP42.authenticationEvent(
            challenge: challenge, relay: try RelayURL(address), by: keys, now: now, using: &generator)
    }
}

extension Event {
    /// The same event with other content, so that its id and signature are wrong.
    var forged: Event {
        Event(
            id: id, pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content + "!",
            signature: signature)
    }
}
