/// NIP-59: a rumor, sealed by its author and wrapped by nobody.
///
/// The rumor is unsigned. The seal, kind 13, holds it encrypted for the recipient and is signed by the author. The
/// wrap, kind 1059, holds the seal encrypted and is signed by a key used once.
public enum GiftWrap {
    /// Seals and wraps are dated back by up to two days, in seconds, so that their times say nothing.
    public static let maximumBackdating: Int64 = 172_800

    /// Wraps a rumor of `sender` for one recipient. `now` in seconds since 1970. `extraTags` go before the `p` tag.
    ///
    /// Throws ``NostrError/Code/invalidPublicKey`` for a recipient off the curve,
    /// ``NostrError/Code/invalidPayloadSize`` for a rumor too large, and ``NostrError/Code/authorMismatch`` if the
    /// rumor is not by `sender`.
    public static func wrap(
        _ rumor: UnsignedEvent, from sender: KeyPair, to recipient: PublicKey, now: Int64, extraTags: [Tag] = [],
        using generator: inout some RandomNumberGenerator
    ) throws(NostrError) -> Event {
        guard rumor.pubkey == sender.publicKey else {
            throw NostrError(.authorMismatch, "only the author of a rumor can seal it")
        }
        let seal = try layer(
            .seal, around: rumor.rumorJSON(), from: sender, to: recipient, tags: [], now: now, using: &generator)
        let once = KeyPair.generate(using: &generator)
        return try layer(
            .giftWrap, around: seal.json(), from: once, to: recipient, tags: extraTags + [.user(recipient)], now: now,
            using: &generator)
    }

    /// Opens a wrap for `recipient`: both signatures hold, and the rumor is by the author of the seal.
    ///
    /// The rumor's stated id is returned and not compared with its content. Throws
    /// ``NostrError/Code/unexpectedKind``, ``NostrError/Code/authorMismatch``, and what ``Event/verify()``,
    /// ``NIP44/decrypt(_:_:)`` and the readers of events throw.
    public static func unwrap(
        _ event: Event, by recipient: KeyPair
    ) throws(NostrError) -> (sender: PublicKey, rumor: UnsignedEvent, statedID: EventID?) {
        let seal = try Event(json: try open(event, kind: .giftWrap, by: recipient))
        let (rumor, statedID) = try UnsignedEvent.parseRumor(try open(seal, kind: .seal, by: recipient))
        guard rumor.pubkey == seal.pubkey else {
            throw NostrError(.authorMismatch, "sealed by \(seal.pubkey), but in the name of \(rumor.pubkey)")
        }
        return (seal.pubkey, rumor, statedID)
    }

    private static func layer(
        _ kind: Kind, around content: [UInt8], from author: KeyPair, to recipient: PublicKey, tags: [Tag], now: Int64,
        using generator: inout some RandomNumberGenerator
    ) throws(NostrError) -> Event {
        let key = try NIP44.conversationKey(author, recipient)
        let nonce = Bytes32.random(using: &generator).bytes
        let event = UnsignedEvent(
            pubkey: author.publicKey, createdAt: now - Int64.random(in: 0..<maximumBackdating, using: &generator),
            kind: kind, tags: tags, content: try NIP44.encrypt(content, key, nonce: nonce))
        return event.signed(by: author, using: &generator)
    }

    private static func open(_ event: Event, kind: Kind, by recipient: KeyPair) throws(NostrError) -> [UInt8] {
        guard event.kind == kind else {
            throw NostrError(.unexpectedKind, "expected kind \(kind), found \(event.kind)")
        }
        try event.verify()
        return try NIP44.decrypt(event.content, try NIP44.conversationKey(recipient, event.pubkey))
    }
}
