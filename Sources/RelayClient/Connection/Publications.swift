import Nostr
import PikaCore

/// Events queued for one relay, or in flight to it.
struct Publications {
    enum Stage: Hashable {
        case waiting
        case sent
        /// Refused because it requires a login, with the relay's message.
        case needsLogin(String)
    }

    struct Entry: Hashable {
        let number: Int
        let event: Event
        let deadline: Duration
        var stage = Stage.waiting
        /// Whether the event was refused once because it requires a login; it is resent after one, and a second refusal
        /// is final.
        var wasRefused = false
    }

    typealias Resolution = (number: Int, outcome: PublishReport.Outcome)

    private var entries: [Int: Entry] = [:]
    private var numbers: [EventID: [Int]] = [:]
    /// Events that the relay accepted on this connection and may send back to it. Echoes follow within a round trip; later
    /// ones are delivered like any event.
    private var echoes = Self.noEchoes

    private static var noEchoes: RecentSet<EventID> { RecentSet(capacity: 2_048) }

    var count: Int { entries.count }
    var nextDeadline: Duration? { entries.values.map(\.deadline).min() }

    mutating func add(_ entry: Entry) {
        entries[entry.number] = entry
        numbers[entry.event.id, default: []].append(entry.number)
    }

    /// Marks all queued events as sent and returns them, oldest first.
    mutating func dequeueUnsent() -> [Event] {
        let unsent = entries.values.filter { $0.stage == .waiting }.sorted { $0.number < $1.number }
        for entry in unsent { entries[entry.number]?.stage = .sent }
        return unsent.map(\.event)
    }

    /// Marks everything as unsent after the connection is lost.
    mutating func connectionLost() {
        echoes = Self.noEchoes
        for number in entries.keys { entries[number]?.stage = .waiting }
    }

    /// Handles the relay's answer. Without an id it applies to the oldest unanswered event.
    ///
    /// - Parameter canLogIn: whether an event that requires a login waits for one.
    mutating func answered(_ id: EventID?, accepted: Bool, message: String, canLogIn: Bool) -> [Resolution] {
        guard let id = id ?? oldestSent?.event.id else { return [] }
        let sent = (numbers[id] ?? []).filter { entries[$0]?.stage == .sent }
        let prefix = MessagePrefix(of: message)
        if !accepted, prefix == .authenticationRequired, canLogIn {
            let waiting = sent.filter { entries[$0]?.wasRefused == false }
            for number in waiting {
                entries[number]?.stage = .needsLogin(message)
                entries[number]?.wasRefused = true
            }
            if !waiting.isEmpty { return [] }
        }
        let isThere = accepted || prefix == .duplicate
        return sent.map { finish($0, isThere ? .accepted : .refused(message)) }
    }

    /// Handles an event from the relay; nil unless it is the first echo of an event that was sent on this connection, whose
    /// answer it replaces.
    mutating func echoed(_ id: EventID) -> [Resolution]? {
        let isSent = numbers[id]?.contains { entries[$0]?.stage == .sent } ?? false
        let answers = isSent ? answered(id, accepted: true, message: "", canLogIn: false) : []
        return echoes.remove(id) ? answers : nil
    }

    mutating func loggedIn() {
        for (number, entry) in entries where isRefused(entry) { entries[number]?.stage = .waiting }
    }

    mutating func loginFailed() -> [Resolution] {
        // None of these waits for a connection, so no reason is needed.
        resolve(entries.values.filter(isRefused), "")
    }

    mutating func expire(at now: Duration, unreachable reason: String) -> [Resolution] {
        resolve(entries.values.filter { $0.deadline <= now }, reason)
    }

    mutating func abandonAll(_ reason: String) -> [Resolution] {
        resolve(Array(entries.values), reason)
    }

    private var oldestSent: Entry? {
        entries.values.filter { $0.stage == .sent }.min { $0.number < $1.number }
    }

    private func isRefused(_ entry: Entry) -> Bool {
        if case .needsLogin = entry.stage { true } else { false }
    }

    private mutating func resolve(_ over: [Entry], _ reason: String) -> [Resolution] {
        over.sorted { $0.number < $1.number }.map { entry in
            switch entry.stage {
            case .waiting: finish(entry.number, .unreachable(reason))
            case .sent: finish(entry.number, .unreachable("timed out waiting for a response"))
            case .needsLogin(let message): finish(entry.number, .refused(message))
            }
        }
    }

    private mutating func finish(_ number: Int, _ outcome: PublishReport.Outcome) -> Resolution {
        if let entry = entries.removeValue(forKey: number) {
            // An empty dictionary keeps its memory, and most connections are idle most of the time.
            if entries.isEmpty { entries = [:] }
            let others = (numbers[entry.event.id] ?? []).filter { $0 != number }
            numbers[entry.event.id] = others.isEmpty ? nil : others
            if outcome == .accepted { _ = echoes.insert(entry.event.id) }
        }
        return (number, outcome)
    }
}
