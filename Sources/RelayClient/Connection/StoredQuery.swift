import Nostr

/// Pages through everything that a relay has stored for some filters (NIP-01).
///
/// Relays cap answers, and may not disclose the cap. A page that may have been truncated is followed by a request for
/// older events. With several filters it is unknown which one was truncated, so each is then requested alone.
struct StoredQuery: Hashable {
    private let filters: [Filter]
    private let smallestCap: Int
    private var seen: Set<EventID> = []
    /// Filters still to be paged through, the current one first; nil while all are requested together.
    private var remaining: ArraySlice<Filter>?
    private var page = Page()
    /// State of the current filter: the upper bound of the current page, and the events of earlier pages.
    private var until: UnixTime?
    private var accepted: Set<EventID> = []
    private var seenAtUntil = 0

    private struct Page: Hashable {
        var ids: Set<EventID> = []
        var new: Set<EventID> = []
        var oldest: UnixTime?
        var seenAtOldest = 0
    }

    init(_ filters: [Filter], smallestCap: Int) {
        self.filters = filters
        self.smallestCap = smallestCap
    }

    /// Number of distinct events received.
    var count: Int { seen.count }

    /// The filters to request now.
    var request: [Filter] {
        guard let current else { return filters }
        var filter = current
        if let until { filter.until = min(filter.until ?? until, until) }
        // The relay sends the events of the boundary second again; they must not use up the limit.
        if let limit = current.limit { filter.limit = max(0, limit - accepted.count) + seenAtUntil }
        return [filter]
    }

    private var current: Filter? { filters.count == 1 ? filters[0] : remaining?.first }

    enum Reception: Hashable {
        case new
        /// Already received in an earlier page: pages overlap in their boundary second.
        case known
        /// Already received in the current page.
        case repeated
        /// Does not match the current request.
        case outside
    }

    mutating func received(_ event: Event) -> Reception {
        guard request.contains(where: { $0.matches(event) }) else { return .outside }
        guard page.ids.insert(event.id).inserted else { return .repeated }
        if event.createdAt < page.oldest ?? .distantFuture { (page.oldest, page.seenAtOldest) = (event.createdAt, 0) }
        if event.createdAt == page.oldest { page.seenAtOldest += 1 }
        if !accepted.contains(event.id) { page.new.insert(event.id) }
        return seen.insert(event.id).inserted ? .new : .known
    }

    /// Ends a page. Returns whether that was the last one; otherwise ``request`` is the next to send.
    mutating func endOfPage() -> Bool {
        defer { page = Page() }
        guard mayBeTruncated, let oldest = page.oldest else { return !nextFilter() }
        guard current != nil else {
            remaining = filters[...]
            return false
        }
        accepted.formUnion(page.new)
        if let limit = current?.limit, accepted.count >= limit { return !nextFilter() }
        // Only known events: one second holds more events than the relay returns at once. The rest of that second is
        // unreachable.
        let isStuck = page.new.isEmpty
        guard oldest > 0 || !isStuck else { return !nextFilter() }
        until = isStuck ? oldest - 1 : oldest
        seenAtUntil = isStuck ? 0 : page.seenAtOldest
        return false
    }

    /// Requests the current page again after a lost connection.
    mutating func restartPage() {
        page = Page()
    }

    private var mayBeTruncated: Bool {
        let asked = request.count == 1 ? request[0].limit ?? .max : .max
        return page.ids.count >= min(smallestCap, max(1, asked))
    }

    /// Moves to the next filter; returns false after the last one.
    private mutating func nextFilter() -> Bool {
        (until, accepted, seenAtUntil) = (nil, [], 0)
        guard let rest = remaining?.dropFirst(), !rest.isEmpty else { return false }
        remaining = rest
        return true
    }
}
