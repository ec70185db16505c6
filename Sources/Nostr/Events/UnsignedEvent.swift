/// Event before signing (NIP-01), or a rumor, which is never signed (NIP-59).
public struct UnsignedEvent: Hashable, Sendable {
    public var pubkey: PublicKey
    /// Seconds since 1970.
    public var createdAt: Int64
    public var kind: Kind
    public var tags: [Tag]
    public var content: String

    public init(pubkey: PublicKey, createdAt: Int64, kind: Kind, tags: [Tag] = [], content: String) {
        self.pubkey = pubkey
        self.createdAt = createdAt
        self.kind = kind
        self.tags = tags
        self.content = content
    }

    /// The hash of ``canonicalSerialization``, computed on every access.
    public var id: EventID { EventID(value: .sha256(canonicalSerialization)) }

    /// Returns the signed event. `key` must be that of `pubkey`, or the event will not verify.
    public func signed(by key: KeyPair, using generator: inout some RandomNumberGenerator) -> Event {
        let id = id
        return Event(
            id: id, pubkey: pubkey, createdAt: createdAt, kind: kind, tags: tags, content: content,
            signature: key.sign(id, using: &generator))
    }

    public func firstTag(_ name: String) -> Tag? { tags.first(named: name) }
    public func tags(named name: String) -> [Tag] { tags.all(named: name) }
}
