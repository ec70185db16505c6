/// A question to a relay (NIP-01). All conditions given must hold; nil asks nothing, an empty list matches nothing.
public struct Filter: Hashable, Sendable {
    public var ids: [EventID]?
    public var authors: [PublicKey]?
    public var kinds: [Kind]?
    /// Seconds since 1970, inclusive.
    public var since: Int64?
    /// Seconds since 1970, inclusive.
    public var until: Int64?
    /// At most so many stored events, the latest. No condition: ``matches(_:)`` leaves it out.
    public var limit: Int?
    /// Single-letter tag name, without `#`, to the values of which the event must carry one.
    public var tags: [String: [String]]

    public init(
        ids: [EventID]? = nil, authors: [PublicKey]? = nil, kinds: [Kind]? = nil, since: Int64? = nil,
        until: Int64? = nil, limit: Int? = nil, tags: [String: [String]] = [:]
    ) {
        self.ids = ids
        self.authors = authors
        self.kinds = kinds
        self.since = since
        self.until = until
        self.limit = limit
        self.tags = tags
    }

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
