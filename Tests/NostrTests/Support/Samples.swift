import LiveTesting
import Nostr

/// Swift Testing has a type of this name too.
typealias Tag = Nostr.Tag

enum Samples {
    static func key(_ seed: UInt64) -> KeyPair {
        var generator = SplitMix64(seed: seed)
        return KeyPair.generate(using: &generator)
    }

    /// A signed event with several tags and a content that needs escapes.
    static func event(
        kind: Kind = 1, tags: [Tag] = [Tag("e", String(repeating: "ab", count: 32)), Tag("t", "x", "é")],
        content: String = "line\nquote \" slash \\ tab\t é 漢 😀", createdAt: UnixTime = 1_700_000_000,
        by key: KeyPair? = nil
    ) -> Event {
        var generator = SplitMix64(seed: 99)
        let key = key ?? Samples.key(1)
        return UnsignedEvent(pubkey: key.publicKey, createdAt: createdAt, kind: kind, tags: tags, content: content)
            .signed(by: key, using: &generator)
    }

    static func text(_ json: [UInt8]) -> String { String(decoding: json, as: UTF8.self) }
}

/// The error code that `body` fails with; nil for success.
func code(_ body: () throws -> Void) -> NostrError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? NostrError)?.code
    }
}
