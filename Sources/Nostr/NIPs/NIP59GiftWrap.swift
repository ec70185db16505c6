/// NIP-59: a rumor, sealed by its author and wrapped under a single-use key.
///
/// The rumor is unsigned. The seal, kind 13, contains it encrypted for the recipient and is signed by the author. The
/// wrap, kind 1059, contains the seal encrypted and is signed by a single-use key.
public enum GiftWrap {
    /// Maximum backdating of seals and wraps in seconds (two days), so that their times reveal nothing.
    public static let maximumBackdating: Int64 = 172_800

    /// Wraps a rumor of `sender` for one recipient. `extraTags` precede the `p` tag.
    ///
    /// - Throws: `NostrError.Code.invalidPublicKey` for a recipient off the curve;
    ///   `NostrError.Code.invalidPayloadSize` if the rumor is too large; `NostrError.Code.authorMismatch` unless
    ///   the rumor is by `sender`.
    public static func wrap(
        _ rumor: UnsignedEvent, from sender: KeyPair, to recipient: PublicKey, now: UnixTime, extraTags: [Tag] = [],
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

    /// Opens a wrap for `recipient`, verifying both signatures and that the seal's author wrote the rumor.
    ///
    /// Returns the rumor's stated id without comparing it with the content. For callers that hold the key: `PikaCore`
    /// performs the same steps one by one, because a remote signer may decrypt between them.
    ///
    /// - Throws: `NostrError.Code.unexpectedKind`, `NostrError.Code.unexpectedRecipient`,
    ///   `NostrError.Code.authorMismatch`; errors of ``Event/verify()``, ``NIP44/decrypt(_:_:)`` and the event parsers.
    public static func unwrap(
        _ event: Event, by recipient: KeyPair
    ) throws(NostrError) -> (sender: PublicKey, rumor: UnsignedEvent, statedID: EventID?) {
        try require(.giftWrap, event)
        try require(event, addressedTo: recipient.publicKey)
        let seal = try self.seal(in: try open(event, by: recipient))
        let (rumor, statedID) = try self.rumor(in: try open(seal, by: recipient), of: seal)
        return (seal.pubkey, rumor, statedID)
    }

    private static func open(_ event: Event, by recipient: KeyPair) throws(NostrError) -> [UInt8] {
        try NIP44.decrypt(event.content, try NIP44.conversationKey(recipient, event.pubkey))
    }
}

/// Individual layers, for accounts whose key is held elsewhere: callers request the author's encryption, decryption and
/// signature from the key holder and do the rest here.
extension GiftWrap {
    /// Returns the seal for `author` to sign; `content` is the rumor's JSON, encrypted for the recipient.
    public static func seal(
        _ content: String, by author: PublicKey, now: UnixTime, using generator: inout some RandomNumberGenerator
    ) -> UnsignedEvent {
        UnsignedEvent(pubkey: author, createdAt: backdated(now, &generator), kind: .seal, content: content)
    }

    /// Wraps a signed seal under a single-use key; throws as ``wrap(_:from:to:now:extraTags:using:)`` does.
    public static func wrap(
        _ seal: Event, to recipient: PublicKey, now: UnixTime, extraTags: [Tag] = [],
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

    /// Throws unless an event has this kind and a valid id and signature.
    public static func require(_ kind: Kind, _ event: Event) throws(NostrError) {
        guard event.kind == kind else {
            throw NostrError(.unexpectedKind, "expected kind \(kind), found \(event.kind)")
        }
        try event.verify()
    }

    /// Throws `NostrError.Code.unexpectedRecipient` unless the only `p` tag of a wrap names the recipient.
    public static func require(_ wrap: Event, addressedTo recipient: PublicKey) throws(NostrError) {
        let named = wrap.tags(named: "p")
        guard named.count == 1, named[0].value == recipient.hex else {
            throw NostrError(
                .unexpectedRecipient, "a gift wrap must have one p tag, its recipient; found \(named.count)")
        }
    }

    /// Parses and verifies the seal in a wrap's decrypted content.
    public static func seal(in plaintext: [UInt8]) throws(NostrError) -> Event {
        let seal = try Event(json: plaintext)
        try require(.seal, seal)
        return seal
    }

    /// Parses the rumor in a seal's decrypted content; throws unless the seal's author wrote it.
    public static func rumor(
        in plaintext: [UInt8], of seal: Event
    ) throws(NostrError) -> (event: UnsignedEvent, statedID: EventID?) {
        let (rumor, statedID) = try UnsignedEvent.parseRumor(plaintext)
        guard rumor.pubkey == seal.pubkey else {
            throw NostrError(.authorMismatch, "sealed by \(seal.pubkey), but in the name of \(rumor.pubkey)")
        }
        return (rumor, statedID)
    }

    private static func backdated(_ now: UnixTime, _ generator: inout some RandomNumberGenerator) -> UnixTime {
        now - Int64.random(in: 0..<maximumBackdating, using: &generator)
    }
}
