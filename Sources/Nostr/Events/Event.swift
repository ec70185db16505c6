/// Signed event as transmitted (NIP-01).
///
/// A value may be invalid: parsing does not check the id and signature; ``verify()`` does, once per event.
public struct Event: Hashable, Sendable {
    /// SHA-256 of the canonical serialisation, as stated by the sender; ``verify()`` checks it.
    public let id: EventID
    /// The author's key, which signs the id.
    public let pubkey: PublicKey
    /// The time stated by the sender.
    public let createdAt: UnixTime
    /// The type number, which defines the meaning of tags and content.
    public let kind: Kind
    /// The tags, whose order affects the id.
    public let tags: [Tag]
    /// Text whose format depends on the kind; empty for some.
    public let content: String
    /// The author's BIP-340 signature of the id, as stated by the sender; ``verify()`` checks it.
    public let signature: Signature

    /// Creates an event from its fields without checking the id or signature.
    public init(
        id: EventID, pubkey: PublicKey, createdAt: UnixTime, kind: Kind, tags: [Tag], content: String,
        signature: Signature
    ) {
        self.id = id
        self.pubkey = pubkey
        self.createdAt = createdAt
        self.kind = kind
        self.tags = tags
        self.content = content
        self.signature = signature
    }

    /// Verifies the id against the content and the BIP-340 signature against the id.
    ///
    /// - Throws: `NostrError.Code.idMismatch`, or `NostrError.Code.badSignature`, including when the author's
    ///   key is not on the curve.
    public func verify() throws(NostrError) {
        try verifyID()
        guard Schnorr.isValid(signature, message: id.bytes, key: pubkey) else {
            throw NostrError(.badSignature, "event \(id) is not signed by \(pubkey)")
        }
    }

    /// Verifies the id against the content, not the signature; throws `NostrError.Code.idMismatch`.
    public func verifyID() throws(NostrError) {
        guard unsigned.id == id else {
            throw NostrError(.idMismatch, "event \(id): the id is not the hash of its content")
        }
    }

    /// The event without its id and signature.
    public var unsigned: UnsignedEvent {
        UnsignedEvent(pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content)
    }

    /// Returns the first tag with that name; nil if absent.
    public func firstTag(_ name: String) -> Tag? { tags.first(named: name) }
    /// Returns all tags with that name, in order.
    public func tags(named name: String) -> [Tag] { tags.all(named: name) }
}
