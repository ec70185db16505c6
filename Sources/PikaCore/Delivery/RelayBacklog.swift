import MLS
import Nostr

/// The backlog of each relay: events that another relay has accepted and this one still lacks. They are sent in the
/// background, in order per relay, until the relay has the event, refuses it permanently, or a day has passed.
///
/// A relay that lacks a commit receives no later event of that group: members who only read there could not open it.
struct RelayBacklog: Sendable {
    /// The maximum number of events in flight to one relay.
    static let window = 32
    /// Milliseconds before an unreachable relay is retried; doubled each time, up to the maximum.
    static let firstDelay: Int64 = 5000
    static let maximumDelay: Int64 = 1_800_000
    /// Seconds after which a relay's missing events are dropped.
    static let lifetime: Int64 = 86_400
    /// Temporary refusals, such as `rate-limited`, after which the event is not sent to the relay again.
    static let maximumRefusals = 8
    /// The maximum number of rows; beyond it the oldest row that is not a commit is dropped.
    static let capacity = 2000

    /// The effect of a relay's answer.
    enum Outcome: Sendable, Hashable {
        /// No change to store.
        case none
        /// Every relay has the event, or need not have it.
        case delivered(row: String)
        /// The relay is to be retried at this time.
        case retry(atMilliseconds: Int64)
    }

    private struct MissingEvent: Sendable {
        let row: String
        let sequence: Int64
        var isInFlight = false
        var refusals = 0
        var dueAt: Int64 = 0
    }

    private struct RelayQueue: Sendable {
        /// The missing events, in ascending order of sequence number.
        var events: [MissingEvent] = []
        var failures = 0
        var dueAt: Int64 = 0
    }

    private struct CommitPlace: Hashable, Sendable {
        let relay: RelayURL
        let lane: GroupID?
    }

    private var rows: [String: OutboxRow] = [:]
    private var relays: [RelayURL: RelayQueue] = [:]
    /// The sequence numbers of the commits that a relay lacks, by relay and group.
    private var commits: [CommitPlace: Set<Int64>] = [:]

    var count: Int { self.rows.count }

    func row(_ id: String) -> OutboxRow? { self.rows[id] }

    func rows(ofMessage id: EventID, in groupID: GroupID) -> [String] {
        self.rows.values.filter { $0.messageID == id && $0.groupID == groupID }.map(\.id)
    }

    /// Whether a relay lacks an earlier commit of the row's group.
    func lacksCommit(before row: OutboxRow, _ relay: RelayURL) -> Bool {
        guard !self.commits.isEmpty else { return false }
        return self.commits[CommitPlace(relay: relay, lane: row.lane)]?.contains { $0 < row.sequence } == true
    }

    /// Adds a row for the relays in its ``OutboxRow/leftover``; returns the ids of rows dropped to make room.
    mutating func add(_ row: OutboxRow, inFlight: Set<RelayURL> = []) -> [String] {
        guard let leftover = row.leftover, !leftover.relays.isEmpty, self.rows[row.id] == nil else { return [] }
        self.rows[row.id] = row
        for relay in leftover.relays {
            let event = MissingEvent(row: row.id, sequence: row.sequence, isInFlight: inFlight.contains(relay))
            let events = self.relays[relay]?.events ?? []
            let position = events.lastIndex { $0.sequence < row.sequence }.map { $0 + 1 } ?? 0
            self.relays[relay, default: RelayQueue()].events.insert(event, at: position)
            if row.purpose == .commit {
                self.commits[CommitPlace(relay: relay, lane: row.lane), default: []].insert(row.sequence)
            }
        }
        guard self.rows.count > Self.capacity else { return [] }
        let oldest = self.rows.values.filter { $0.purpose != .commit }.min { $0.sequence < $1.sequence }
        guard let oldest else { return [] }
        self.remove(oldest.id)
        return [oldest.id]
    }

    /// Returns the rows to send now, each with its relay; they count as in flight from here on.
    ///
    /// - Parameter away: relays that are not connected; their rows wait until they reconnect.
    mutating func start(nowMilliseconds now: Int64, away: Set<RelayURL>) -> [(row: OutboxRow, relay: RelayURL)] {
        var started: [(row: OutboxRow, relay: RelayURL)] = []
        for (relay, queue) in self.relays where queue.dueAt <= now && !away.contains(relay) {
            var inFlight = queue.events.lazy.filter(\.isInFlight).count
            for (position, event) in queue.events.enumerated() where !event.isInFlight && event.dueAt <= now {
                guard inFlight < Self.window else { break }
                guard let row = self.rows[event.row], !self.lacksCommit(before: row, relay) else { continue }
                self.relays[relay]?.events[position].isInFlight = true
                inFlight += 1
                started.append((row, relay))
            }
        }
        return started.sorted { ($0.row.sequence, $0.relay) < ($1.row.sequence, $1.relay) }
    }

    /// Records a relay's answer.
    mutating func report(_ id: String, _ report: PublishReport, nowMilliseconds now: Int64) -> Outcome {
        let relay = report.relay
        guard let position = self.relays[relay]?.events.firstIndex(where: { $0.row == id }) else { return .none }
        switch report.outcome {
        case .accepted:
            self.relays[relay]?.failures = 0
            return self.deliver(id, relay)
        case .refused(let message) where PublishQueue.isTemporary(message):
            let refusals = (self.relays[relay]?.events[position].refusals ?? 0) + 1
            if refusals >= Self.maximumRefusals { return self.deliver(id, relay) }
            let dueAt = now + Self.delay(refusals - 1)
            self.relays[relay]?.events[position].refusals = refusals
            self.relays[relay]?.events[position].isInFlight = false
            self.relays[relay]?.events[position].dueAt = dueAt
            return .retry(atMilliseconds: dueAt)
        case .refused: return self.deliver(id, relay)
        case .unreachable:
            self.relays[relay]?.events[position].isInFlight = false
            guard let queue = self.relays[relay], queue.dueAt <= now else { return .none }
            let dueAt = now + Self.delay(queue.failures)
            self.relays[relay]?.dueAt = dueAt
            self.relays[relay]?.failures += 1
            return .retry(atMilliseconds: dueAt)
        }
    }

    private static func delay(_ failures: Int) -> Int64 {
        min(Self.firstDelay << Int64(min(max(0, failures), 10)), Self.maximumDelay)
    }

    /// Whether a row is in flight to a relay.
    func isInFlight(_ id: String, _ relay: RelayURL) -> Bool {
        self.relays[relay]?.events.contains { $0.row == id && $0.isInFlight } == true
    }

    /// Makes a relay's backlog due, since it has reconnected.
    mutating func makeDue(_ relay: RelayURL) {
        guard let count = self.relays[relay]?.events.count else { return }
        self.relays[relay]?.dueAt = 0
        for position in 0..<count { self.relays[relay]?.events[position].dueAt = 0 }
    }

    /// Drops rows past their lifetime; returns their ids.
    mutating func expire(now: UnixTime) -> [String] {
        let rows = self.rows.values.filter { now.seconds(since: $0.leftover?.settledAt ?? now) >= Self.lifetime }
        let old = rows.map(\.id)
        for id in old { self.remove(id) }
        return old
    }

    private mutating func deliver(_ id: String, _ relay: RelayURL) -> Outcome {
        guard let row = self.rows[id] else { return .none }
        self.drop(row, relay)
        self.rows[id]?.leftover?.relays.removeAll { $0 == relay }
        guard self.rows[id]?.leftover?.relays.isEmpty == true else { return .none }
        self.rows[id] = nil
        return .delivered(row: id)
    }

    private mutating func drop(_ row: OutboxRow, _ relay: RelayURL) {
        self.relays[relay]?.events.removeAll { $0.row == row.id }
        if self.relays[relay]?.events.isEmpty == true { self.relays[relay] = nil }
        guard row.purpose == .commit else { return }
        let place = CommitPlace(relay: relay, lane: row.lane)
        self.commits[place]?.remove(row.sequence)
        if self.commits[place]?.isEmpty == true { self.commits[place] = nil }
    }

    @discardableResult
    mutating func remove(_ id: String) -> OutboxRow? {
        guard let row = self.rows.removeValue(forKey: id) else { return nil }
        for relay in row.leftover?.relays ?? [] { self.drop(row, relay) }
        return row
    }
}

extension OutboxRow {
    /// The group, or the account, whose rows are sent in order.
    var lane: GroupID? { self.groupID }
}
