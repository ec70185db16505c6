import Nostr
import PikaCore

/// A subscription at one relay, and how far it has come there.
struct StandingSubscription: Hashable {
    enum Stage: Hashable {
        /// Not asked, or ended by the relay until the next connection.
        case closed
        /// Ended by the relay until we log in.
        case needsLogin
        /// Stored events come.
        case catchingUp(StoredQuery)
        case live
        /// Their end did not come within its bounds. New events are delivered, but events may be missing before them.
        case overdue
    }

    /// Stored events after which a relay that goes on and on is not asked for more.
    static let mostStored = 250_000

    let request: RelaySubscription
    private(set) var stage = Stage.closed
    /// Names of the open REQ, and of the one that fetches what the first answer left out.
    var wireID: String?
    var pageWireID: String?
    /// Creation time of the newest event up to which nothing is missing. Relays send the newest stored event first,
    /// so it moves only when all of them have come.
    private(set) var position: Int64?
    private var newest: Int64?
    /// On this connection, for want of a login; a second time is final.
    private var wasRefused = false
    /// Whether the end came after the page was given up.
    private var hasEnded = false

    init(_ request: RelaySubscription) {
        self.request = request
    }

    /// Starts anew from where it was, and returns the filters to send.
    mutating func open(smallestCap: Int, now: Int64) -> [Filter] {
        // Where a limit leaves out what is stored, the present is where it begins.
        newest = position ?? (request.filters.contains { $0.limit != nil } ? now : nil)
        let filters = resumedFilters
        stage = .catchingUp(StoredQuery(filters, smallestCap: smallestCap))
        return filters
    }

    mutating func connectionLost() {
        wasRefused = false
        stage = .closed
        (wireID, pageWireID) = (nil, nil)
    }

    /// The relay ended it.
    mutating func closed(awaitsLogin: Bool) {
        stage = awaitsLogin && !wasRefused ? .needsLogin : .closed
        wasRefused = wasRefused || awaitsLogin
        (wireID, pageWireID) = (nil, nil)
    }

    enum Reception: Hashable {
        case new
        /// The same page of stored events brought it before.
        case repeated
        case unrequested
    }

    mutating func received(_ event: Event, now: Int64) -> Reception {
        guard request.filters.contains(where: { $0.matches(event) }) else { return .unrequested }
        // An event from the future must not hide those of the present after a reconnect.
        newest = max(newest ?? .min, min(event.createdAt, now))
        switch stage {
        case .catchingUp(var query):
            // Let go of, so that its sets are changed in place.
            stage = .closed
            let reception = query.received(event)
            stage = .catchingUp(query)
            return reception == .repeated ? .repeated : .new
        case .live: position = newest
        case .closed, .needsLogin, .overdue: break
        }
        return .new
    }

    /// The next page to ask for, or nil when all stored events have come.
    mutating func endOfPage() -> [Filter]? {
        guard case .catchingUp(var query) = stage else { return nil }
        stage = .live
        guard query.endOfPage() else {
            guard query.count < StandingSubscription.mostStored else {
                giveUpPage()
                return nil
            }
            stage = .catchingUp(query)
            return query.request
        }
        position = newest
        return nil
    }

    /// The page did not end within its bounds. The position stays, so that the next connection asks for its events
    /// again.
    mutating func giveUpPage() {
        stage = .overdue
        pageWireID = nil
        hasEnded = false
    }

    /// Notes an end that comes after the page was given up; false if it came before.
    mutating func ended() -> Bool {
        defer { hasEnded = true }
        return !hasEnded
    }

    private var resumedFilters: [Filter] {
        guard let position else { return request.filters }
        let start = max(0, position.subtractingClamped(max(0, request.overlap)))
        return request.filters.map { filter in
            var filter = filter
            filter.since = max(filter.since ?? 0, start)
            // A limit is for the first time; later it would cut into what was missed.
            filter.limit = nil
            return filter
        }
    }
}

extension Int64 {
    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
