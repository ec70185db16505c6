/// Signed event as transmitted (NIP-01).
///
/// A value may be invalid: parsing does not check the id and signature; ``verify()`` does, once per event.
public struct Event: Hashable, Sendable {
    public let id: EventID
    public let pubkey: PublicKey
    /// Seconds since 1970.
    public let createdAt: Int64
    public let kind: Kind
    public let tags: [Tag]
    public let content: String
    public let signature: Signature

    public init(
        id: EventID, pubkey: PublicKey, createdAt: Int64, kind: Kind, tags: [Tag], content: String,
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
    /// - Throws: ``NostrError/Code/idMismatch``, or ``NostrError/Code/badSignature``, also if the author's key is not
    ///   on the curve.
    public func verify() throws(NostrError) {
        guard unsigned.id == id else {
            throw NostrError(.idMismatch, "event \(id): the id is not the hash of its content")
        }
        guard Schnorr.isValid(signature, message: id.bytes, key: pubkey) else {
            throw NostrError(.badSignature, "event \(id) is not signed by \(pubkey)")
        }
    }

    public var unsigned: UnsignedEvent {
        UnsignedEvent(pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content)
    }

    public func firstTag(_ name: String) -> Tag? { tags.first(named: name) }
    public func tags(named name: String) -> [Tag] { tags.all(named: name) }
}
