import Nostr
import PikaCore

/// A subscription at one relay, and its position in the relay's events.
struct StandingSubscription: Hashable {
    enum Stage: Hashable {
        /// Not sent, or ended by the relay until the next connection.
        case closed
        /// Ended by the relay until a login.
        case needsLogin
        /// Stored events are arriving.
        case catchingUp(StoredQuery)
        case live
        /// The stored events exceeded their bounds. New events are delivered, but events may be missing before them.
        case overdue
    }

    /// Stored events after which no further pages are requested from a relay.
    static let maximumStored = 250_000

    let request: RelaySubscription
    private(set) var stage = Stage.closed
    /// Subscription ids of the open REQ, and of the one that fetches further pages.
    var wireID: String?
    var pageWireID: String?
    var replaced = ReplacedRequests()
    /// Creation time up to which no event is missing. Moves only when all stored events have arrived, because relays
    /// send the newest first.
    private(set) var position: UnixTime?
    private var newest: UnixTime?
    /// Whether the relay has demanded a login for it on this connection; a second demand is final.
    private var wasRefused = false
    /// Whether EOSE arrived after the page was abandoned.
    private var hasEnded = false

    init(_ request: RelaySubscription) {
        self.request = request
    }

    /// Restarts from the position, and returns the filters to send.
    mutating func open(smallestCap: Int, now: UnixTime) -> [Filter] {
        // A filter with a limit leaves out stored events, so the position begins at the present.
        newest = position ?? (request.filters.contains { $0.limit != nil } ? now : nil)
        let filters = resumedFilters
        stage = .catchingUp(StoredQuery(filters, smallestCap: smallestCap))
        return filters
    }

    mutating func connectionLost() {
        wasRefused = false
        stage = .closed
        (wireID, pageWireID) = (nil, nil)
        replaced = ReplacedRequests()
    }

    /// Handles CLOSED.
    mutating func closed(awaitsLogin: Bool) {
        stage = awaitsLogin && !wasRefused ? .needsLogin : .closed
        wasRefused = wasRefused || awaitsLogin
        (wireID, pageWireID) = (nil, nil)
    }

    enum Reception: Hashable {
        case new
        /// Already received in the current page.
        case repeated
        case unrequested
    }

    mutating func received(_ event: Event, now: UnixTime) -> Reception {
        guard request.filters.contains(where: { $0.matches(event) }) else { return .unrequested }
        // An event dated in the future must not hide present events after a reconnect.
        newest = max(newest ?? .distantPast, min(event.createdAt, now))
        switch stage {
        case .catchingUp(var query):
            // Release the copy in `stage`, so that the sets of the query are mutated in place.
            stage = .closed
            let reception = query.received(event)
            stage = .catchingUp(query)
            return reception == .repeated ? .repeated : .new
        case .live: position = newest
        case .closed, .needsLogin, .overdue: break
        }
        return .new
    }

    /// Handles the end of a page; returns the next one to request, or nil when all stored events have arrived.
    mutating func endOfPage() -> [Filter]? {
        guard case .catchingUp(var query) = stage else { return nil }
        stage = .live
        guard query.endOfPage() else {
            guard query.count < StandingSubscription.maximumStored else {
                abandonPage()
                return nil
            }
            stage = .catchingUp(query)
            return query.request
        }
        position = newest
        return nil
    }

    /// Abandons a page that exceeded its bounds. The position stays, so that the next connection requests its events
    /// again.
    mutating func abandonPage() {
        stage = .overdue
        pageWireID = nil
        hasEnded = false
    }

    /// Handles an EOSE after the page was abandoned; returns true for the first one.
    mutating func ended() -> Bool {
        defer { hasEnded = true }
        return !hasEnded
    }

    private var resumedFilters: [Filter] {
        guard let position else { return request.filters }
        let start = max(0, position - max(0, request.overlap))
        return request.filters.map { filter in
            var filter = filter
            filter.since = max(filter.since ?? 0, start)
            // A limit applies to the first request only; later it would leave out missed events.
            filter.limit = nil
            return filter
        }
    }
}
