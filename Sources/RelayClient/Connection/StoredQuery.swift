import Nostr

/// Everything a relay has stored for some filters, asked for in pages (NIP-01).
///
/// Relays cut an answer off at a cap that they may keep to themselves. A page that could have been cut is followed by
/// a request for what is older. With several filters nobody can tell where each was cut: then each is asked alone.
struct StoredQuery: Hashable {
    private let filters: [Filter]
    private let smallestCap: Int
    private var seen: Set<EventID> = []
    /// Filters yet to be paged through, the current one first. Nil while all are asked together.
    private var remaining: ArraySlice<Filter>?
    private var page = Page()
    /// Of the current filter: how far back we are, and what came before the current page.
    private var until: Int64?
    private var taken: Set<EventID> = []
    private var seenAtUntil = 0

    private struct Page: Hashable {
        var ids: Set<EventID> = []
        var new: Set<EventID> = []
        var oldest: Int64?
        var seenAtOldest = 0
    }

    init(_ filters: [Filter], smallestCap: Int) {
        self.filters = filters
        self.smallestCap = smallestCap
    }

    /// How many different events came.
    var count: Int { seen.count }

    /// What to ask now.
    var request: [Filter] {
        guard let current else { return filters }
        var filter = current
        if let until { filter.until = min(filter.until ?? until, until) }
        // Those of the last second come again and must not crowd out the rest.
        if let limit = current.limit { filter.limit = max(0, limit - taken.count) + seenAtUntil }
        return [filter]
    }

    private var current: Filter? { filters.count == 1 ? filters[0] : remaining?.first }

    enum Reception: Hashable {
        case new
        /// An earlier page brought it: pages overlap in the second where they meet.
        case known
        /// The current page brought it before.
        case repeated
        /// The current page does not ask for it.
        case outside
    }

    mutating func received(_ event: Event) -> Reception {
        guard request.contains(where: { $0.matches(event) }) else { return .outside }
        guard page.ids.insert(event.id).inserted else { return .repeated }
        if event.createdAt < page.oldest ?? .max { (page.oldest, page.seenAtOldest) = (event.createdAt, 0) }
        if event.createdAt == page.oldest { page.seenAtOldest += 1 }
        if !taken.contains(event.id) { page.new.insert(event.id) }
        return seen.insert(event.id).inserted ? .new : .known
    }

    /// Whether that was all; otherwise ``request`` tells what to ask next.
    mutating func endOfPage() -> Bool {
        defer { page = Page() }
        guard mayHaveBeenCut, let oldest = page.oldest else { return !nextFilter() }
        guard current != nil else {
            remaining = filters[...]
            return false
        }
        taken.formUnion(page.new)
        if let limit = current?.limit, taken.count >= limit { return !nextFilter() }
        // A page of nothing but known events: more of one second than the relay gives at once. The rest of that
        // second is out of reach.
        let isStuck = page.new.isEmpty
        guard oldest > 0 || !isStuck else { return !nextFilter() }
        until = isStuck ? oldest - 1 : oldest
        seenAtUntil = isStuck ? 0 : page.seenAtOldest
        return false
    }

    /// The connection was lost: the current page is asked for again.
    mutating func restartPage() {
        page = Page()
    }

    private var mayHaveBeenCut: Bool {
        let asked = request.count == 1 ? request[0].limit ?? .max : .max
        return page.ids.count >= min(smallestCap, max(1, asked))
    }

    /// False if there is none left.
    private mutating func nextFilter() -> Bool {
        (until, taken, seenAtUntil) = (nil, [], 0)
        guard let rest = remaining?.dropFirst(), !rest.isEmpty else { return false }
        remaining = rest
        return true
    }
}
