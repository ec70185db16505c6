/// Event before signing (NIP-01), or a rumor, which is never signed (NIP-59).
public struct UnsignedEvent: Hashable, Sendable {
    /// The author's key.
    public var pubkey: PublicKey
    /// The stated time.
    public var createdAt: UnixTime
    /// The type number, which defines the meaning of tags and content.
    public var kind: Kind
    /// The tags, whose order affects the id.
    public var tags: [Tag]
    /// Text whose format depends on the kind; empty for some.
    public var content: String

    /// Creates an event.
    public init(pubkey: PublicKey, createdAt: UnixTime, kind: Kind, tags: [Tag] = [], content: String) {
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

    /// Returns the first tag with that name; nil if absent.
    public func firstTag(_ name: String) -> Tag? { tags.first(named: name) }
    /// Returns all tags with that name, in order.
    public func tags(named name: String) -> [Tag] { tags.all(named: name) }
}
