import Nostr
import PikaCore

/// One-time requests to one relay.
struct Fetches {
    struct Entry: Hashable {
        let number: Int
        let deadline: Duration
        var query: StoredQuery
        /// Subscription id of the open REQ.
        var wireID: String?
        var needsLogin: String?
        /// Whether the request was refused once because it requires a login; a second refusal is final.
        var wasRefused = false
        var events: [Event] = []
        var bytes = 0
    }

    typealias Resolution = (number: Int, outcome: FetchOutcome)

    private(set) var entries: [Int: Entry] = [:]

    var count: Int { entries.count }
    var nextDeadline: Duration? { entries.values.map(\.deadline).min() }
    /// Fetches to send now, oldest first.
    var unsent: [Int] {
        entries.values.filter { $0.wireID == nil && $0.needsLogin == nil }.map(\.number).sorted()
    }

    mutating func add(_ entry: Entry) { entries[entry.number] = entry }

    mutating func markSent(_ number: Int, as wireID: String) -> [Filter] {
        entries[number]?.wireID = wireID
        return entries[number]?.query.request ?? []
    }

    mutating func connectionLost() {
        for number in entries.keys {
            entries[number]?.wireID = nil
            entries[number]?.needsLogin = nil
            entries[number]?.query.restartPage()
        }
    }

    enum Reception: Hashable {
        case new
        case known
        case repeated
        case unrequested
        case tooMuch
    }

    mutating func received(_ event: Event, bytes: Int, for number: Int, atMost: Int) -> Reception {
        guard let reception = entries[number]?.query.received(event), let sum = entries[number]?.bytes else {
            return .unrequested
        }
        switch reception {
        case .outside: return .unrequested
        case .repeated: return .repeated
        case .known: return .known
        case .new: break
        }
        guard sum + bytes <= atMost else { return .tooMuch }
        entries[number]?.bytes += bytes
        entries[number]?.events.append(event)
        return .new
    }

    /// Handles the end of a page; returns the result if that was the last one.
    mutating func endOfPage(_ number: Int) -> Resolution? {
        entries[number]?.wireID = nil
        guard entries[number]?.query.endOfPage() == true else { return nil }
        return remove(number).map { (number, .events(Fetches.newestFirst($0.events))) }
    }

    /// Handles CLOSED; returns the failure, or nil if the request is to wait for a login.
    mutating func closed(_ number: Int, message: String, canLogIn: Bool) -> Resolution? {
        entries[number]?.wireID = nil
        let wantsLogin = MessagePrefix(of: message) == .authenticationRequired
        if wantsLogin, canLogIn, entries[number]?.wasRefused == false {
            entries[number]?.wasRefused = true
            entries[number]?.needsLogin = message
            entries[number]?.query.restartPage()
            return nil
        }
        return fail(number, message)
    }

    mutating func loggedIn() {
        for number in entries.keys { entries[number]?.needsLogin = nil }
    }

    mutating func loginFailed() -> [Resolution] {
        entries.values.filter { $0.needsLogin != nil }.map(\.number).sorted().compactMap {
            fail($0, entries[$0]?.needsLogin ?? "")
        }
    }

    mutating func fail(_ number: Int, _ reason: String) -> Resolution? {
        remove(number).map { _ in (number, .failed(reason)) }
    }

    private mutating func remove(_ number: Int) -> Entry? {
        // An empty dictionary keeps its memory, and fetches are rare.
        defer { if entries.isEmpty { entries = [:] } }
        return entries.removeValue(forKey: number)
    }

    /// - Returns: The expired fetches and their open REQs.
    mutating func expire(at now: Duration, unreachable reason: String) -> [(Resolution, wireID: String?)] {
        entries.values.filter { $0.deadline <= now }.sorted { $0.number < $1.number }.compactMap { entry in
            let words = entry.needsLogin ?? (entry.wireID == nil ? reason : "timed out waiting for a response")
            return fail(entry.number, words).map { ($0, entry.wireID) }
        }
    }

    mutating func abandonAll(_ reason: String) -> [Resolution] {
        entries.keys.sorted().compactMap { fail($0, reason) }
    }

    private static func newestFirst(_ events: [Event]) -> [Event] {
        events.sorted { $0.createdAt != $1.createdAt ? $0.createdAt > $1.createdAt : $0.id < $1.id }
    }
}
