import Nostr
import RelayClient

/// Test events signed with throwaway keys.
enum ThrowawayEvent {
    /// Non-standard ephemeral kind, forwarded but not stored. The canaries use it too, so a relay's operator may have
    /// allowed it.
    static let echoKind: Kind = 20_445

    static var now: UnixTime { .systemTime }

    static func keys() -> KeyPair {
        var generator = SystemRandomNumberGenerator()
        return KeyPair.generate(using: &generator)
    }

    /// Answers login challenges with these keys (NIP-42).
    static func signer(_ keys: KeyPair) -> RelayPool.Signer {
        { challenge, relay in
            var generator = SystemRandomNumberGenerator()
            return NIP42.draft(challenge: challenge, relay: relay, by: keys.publicKey, now: ThrowawayEvent.now)
                .signed(by: keys, using: &generator)
        }
    }

    /// Returns an event with unreadable content, like a group's.
    static func make(
        _ kind: Kind, by keys: KeyPair, _ tags: [Tag] = [], at time: UnixTime = now, contentBytes: Int = 256
    ) -> Event {
        var generator = SystemRandomNumberGenerator()
        let content = Base64.encode((0..<contentBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        return UnsignedEvent(pubkey: keys.publicKey, createdAt: time, kind: kind, tags: tags, content: content)
            .signed(by: keys, using: &generator)
    }

    /// Returns a request to delete events of one author (NIP-09).
    static func deletion(of events: [Event], by keys: KeyPair, _ tags: [Tag] = [], at time: UnixTime = now) -> Event {
        var generator = SystemRandomNumberGenerator()
        var kinds: [Kind] = []
        for event in events where !kinds.contains(event.kind) { kinds.append(event.kind) }
        var draft = Deletion(eventIDs: events.map(\.id), kinds: kinds).unsigned(by: keys.publicKey, now: time)
        draft.tags += tags
        return draft.signed(by: keys, using: &generator)
    }
}
