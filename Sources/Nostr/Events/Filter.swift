/// Query for events of a relay (NIP-01). All conditions must hold; nil means no condition, and an empty list
/// matches nothing.
public struct Filter: Hashable, Sendable {
    /// Accepted event ids.
    public var ids: [EventID]?
    /// Accepted authors.
    public var authors: [PublicKey]?
    /// Accepted kinds.
    public var kinds: [Kind]?
    /// The earliest `created_at`, inclusive.
    public var since: UnixTime?
    /// The latest `created_at`, inclusive.
    public var until: UnixTime?
    /// Maximum number of stored events to return, latest first. Not a condition: ``matches(_:)`` ignores it.
    public var limit: Int?
    /// Required tag values by single-letter tag name without `#`; the event must have at least one value for each name.
    public var tags: [String: [String]]

    /// Creates a filter; without arguments it matches every event.
    public init(
        ids: [EventID]? = nil, authors: [PublicKey]? = nil, kinds: [Kind]? = nil, since: UnixTime? = nil,
        until: UnixTime? = nil, limit: Int? = nil, tags: [String: [String]] = [:]
    ) {
        self.ids = ids
        self.authors = authors
        self.kinds = kinds
        self.since = since
        self.until = until
        self.limit = limit
        self.tags = tags
    }

    /// Returns whether the event meets all conditions; does not verify the event.
    public func matches(_ event: Event) -> Bool {
        if let kinds, !kinds.contains(event.kind) { return false }
        if let since, event.createdAt < since { return false }
        if let until, event.createdAt > until { return false }
        if let authors, !authors.contains(event.pubkey) { return false }
        if let ids, !ids.contains(event.id) { return false }
        return tags.allSatisfy { name, wanted in
            event.tags.contains { tag in
                guard tag.name == name, let value = tag.value else { return false }
                return wanted.contains(value)
            }
        }
    }
}
