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

    func event(_ content: String = "", kind: Kind = 1, at createdAt: UnixTime = 1_000, tags: [Tag] = []) -> Event {
        var generator = SplitMix64(seed: 3)
        let unsigned = UnsignedEvent(
            pubkey: publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
        return unsigned.signed(by: keys, using: &generator)
    }

    func login(_ challenge: String, at relay: RelayURL, now: UnixTime = 1_700_000_000) -> Event {
        var generator = SplitMix64(seed: 4)
        return NIP42.authenticationEvent(challenge: challenge, relay: relay, by: keys, now: now, using: &generator)
    }
}

extension Event {
    /// Other content under the same id and signature.
    var withForgedContent: Event {
        Event(
            id: id, pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content + "!",
            signature: signature)
    }

    /// The event with another event's signature.
    func signedLike(_ other: Event) -> Event {
        Event(
            id: id, pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content,
            signature: other.signature)
    }
}

extension RelayURL {
    /// A URL that is known to be valid.
    static func known(_ text: String) -> RelayURL {
        do {
            return try RelayURL(text)
        } catch {
            preconditionFailure("\(text): \(error)")
        }
    }
}
