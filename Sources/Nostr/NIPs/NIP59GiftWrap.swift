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
        let nonce = Bytes32.random(using: &generator).bytes
        let content = try NIP44.encrypt(
            rumor.rumorJSON(), try NIP44.conversationKey(sender, recipient), nonce: nonce)
        let seal = self.seal(content, by: sender.publicKey, now: now, using: &generator)
            .signed(by: sender, using: &generator)
        return try wrap(seal, to: recipient, now: now, extraTags: extraTags, using: &generator)
    }

    /// Opens a wrap for `recipient`: both signatures hold, and the rumor is by the author of the seal.
    ///
    /// The rumor's stated id is returned and not compared with its content. Throws
    /// ``NostrError/Code/unexpectedKind``, ``NostrError/Code/authorMismatch``, and what ``Event/verify()``,
    /// ``NIP44/decrypt(_:_:)`` and the readers of events throw.
    public static func unwrap(
        _ event: Event, by recipient: KeyPair
    ) throws(NostrError) -> (sender: PublicKey, rumor: UnsignedEvent, statedID: EventID?) {
        try require(.giftWrap, event)
        let seal = try self.seal(in: try open(event, by: recipient))
        let (rumor, statedID) = try self.rumor(in: try open(seal, by: recipient), of: seal)
        return (seal.pubkey, rumor, statedID)
    }

    private static func open(_ event: Event, by recipient: KeyPair) throws(NostrError) -> [UInt8] {
        try NIP44.decrypt(event.content, try NIP44.conversationKey(recipient, event.pubkey))
    }
}

/// The layers one by one, for accounts whose key is elsewhere: there the author's own encryption, decryption and
/// signature are asked for, and the rest is done here.
extension GiftWrap {
    /// The seal to be signed by `author`; `content` is the rumor's JSON, encrypted for the recipient.
    public static func seal(
        _ content: String, by author: PublicKey, now: Int64, using generator: inout some RandomNumberGenerator
    ) -> UnsignedEvent {
        UnsignedEvent(pubkey: author, createdAt: backdated(now, &generator), kind: .seal, content: content)
    }

    /// Wraps a signed seal with a key used once; throws as ``wrap(_:from:to:now:extraTags:using:)`` does.
    public static func wrap(
        _ seal: Event, to recipient: PublicKey, now: Int64, extraTags: [Tag] = [],
        using generator: inout some RandomNumberGenerator
    ) throws(NostrError) -> Event {
        let once = KeyPair.generate(using: &generator)
        let nonce = Bytes32.random(using: &generator).bytes
        let content = try NIP44.encrypt(seal.json(), try NIP44.conversationKey(once, recipient), nonce: nonce)
        return UnsignedEvent(
            pubkey: once.publicKey, createdAt: backdated(now, &generator), kind: .giftWrap,
            tags: extraTags + [.user(recipient)], content: content
        ).signed(by: once, using: &generator)
    }

    /// Throws unless an event is of this kind, and its id and signature hold.
    public static func require(_ kind: Kind, _ event: Event) throws(NostrError) {
        guard event.kind == kind else {
            throw NostrError(.unexpectedKind, "expected kind \(kind), found \(event.kind)")
        }
        try event.verify()
    }

    /// The verified seal in what a wrap's content decrypts to.
    public static func seal(in plaintext: [UInt8]) throws(NostrError) -> Event {
        let seal = try Event(json: plaintext)
        try require(.seal, seal)
        return seal
    }

    /// The rumor in what a seal's content decrypts to; it is by the seal's author.
    public static func rumor(
        in plaintext: [UInt8], of seal: Event
    ) throws(NostrError) -> (event: UnsignedEvent, statedID: EventID?) {
        let (rumor, statedID) = try UnsignedEvent.parseRumor(plaintext)
        guard rumor.pubkey == seal.pubkey else {
            throw NostrError(.authorMismatch, "sealed by \(seal.pubkey), but in the name of \(rumor.pubkey)")
        }
        return (rumor, statedID)
    }

    private static func backdated(_ now: Int64, _ generator: inout some RandomNumberGenerator) -> Int64 {
        now - Int64.random(in: 0..<maximumBackdating, using: &generator)
    }
}
