import MLS
import Nostr

/// What single relays still lack of events that another relay has taken: sent in the background, each relay's in
/// order, until the relay has it, refuses it for good, or a day has passed.
///
/// A relay that does not have a commit yet gets nothing newer of that group: members who only read there could never
/// open it.
struct RelayDebts: Sendable {
    /// Events that one relay may be sent at once.
    static let window = 32
    /// Milliseconds before a relay that could not be reached is tried again; doubled each time, up to the maximum.
    static let firstDelay: Int64 = 5000
    static let maximumDelay: Int64 = 1_800_000
    /// Seconds after which a relay need not have an event any more.
    static let lifetime: Int64 = 86_400
    /// Passing refusals, such as `rate-limited`, after which a relay is not asked again.
    static let maximumRefusals = 8
    /// Rows; beyond it the oldest that is no commit is forgotten.
    static let capacity = 2000

    /// What became of a relay's answer.
    enum Outcome: Sendable, Hashable {
        /// Nothing to note.
        case none
        /// Every relay has the event, or need not have it.
        case paid(row: String)
        /// The relay is to be asked again then.
        case retry(atMilliseconds: Int64)
    }

    private struct Debt: Sendable {
        let row: String
        let sequence: Int64
        var isInFlight = false
        var refusals = 0
        var dueAt: Int64 = 0
    }

    private struct Creditor: Sendable {
        /// In the order of their sequence.
        var debts: [Debt] = []
        var failures = 0
        var dueAt: Int64 = 0
    }

    private struct CommitPlace: Hashable, Sendable {
        let relay: RelayURL
        let lane: GroupID?
    }

    private var rows: [String: OutboxRow] = [:]
    private var creditors: [RelayURL: Creditor] = [:]
    /// The sequence numbers of the commits that a relay lacks, by group.
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

    /// Takes a row over whose ``OutboxRow/leftover`` says who lacks it; returns the rows that are forgotten for it.
    mutating func add(_ row: OutboxRow, inFlight: Set<RelayURL> = []) -> [String] {
        guard let leftover = row.leftover, !leftover.relays.isEmpty, self.rows[row.id] == nil else { return [] }
        self.rows[row.id] = row
        for relay in leftover.relays {
            let debt = Debt(row: row.id, sequence: row.sequence, isInFlight: inFlight.contains(relay))
            let debts = self.creditors[relay]?.debts ?? []
            let position = debts.lastIndex { $0.sequence < row.sequence }.map { $0 + 1 } ?? 0
            self.creditors[relay, default: Creditor()].debts.insert(debt, at: position)
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

    /// What to send now, to which relay; it counts as in flight from here on.
    ///
    /// - Parameter away: relays that say themselves when they are back.
    mutating func start(nowMilliseconds now: Int64, away: Set<RelayURL>) -> [(row: OutboxRow, relay: RelayURL)] {
        var started: [(row: OutboxRow, relay: RelayURL)] = []
        for (relay, creditor) in self.creditors where creditor.dueAt <= now && !away.contains(relay) {
            var underWay = creditor.debts.lazy.filter(\.isInFlight).count
            for (position, debt) in creditor.debts.enumerated() where !debt.isInFlight && debt.dueAt <= now {
                guard underWay < Self.window else { break }
                guard let row = self.rows[debt.row], !self.lacksCommit(before: row, relay) else { continue }
                self.creditors[relay]?.debts[position].isInFlight = true
                underWay += 1
                started.append((row, relay))
            }
        }
        return started.sorted { ($0.row.sequence, $0.relay) < ($1.row.sequence, $1.relay) }
    }

    /// Notes a relay's answer.
    mutating func report(_ id: String, _ report: PublishReport, nowMilliseconds now: Int64) -> Outcome {
        let relay = report.relay
        guard let position = self.creditors[relay]?.debts.firstIndex(where: { $0.row == id }) else { return .none }
        switch report.outcome {
        case .accepted:
            self.creditors[relay]?.failures = 0
            return self.pay(id, relay)
        case .refused(let message) where PublishQueue.isTemporary(message):
            let refusals = (self.creditors[relay]?.debts[position].refusals ?? 0) + 1
            if refusals >= Self.maximumRefusals { return self.pay(id, relay) }
            let dueAt = now + Self.delay(refusals - 1)
            self.creditors[relay]?.debts[position].refusals = refusals
            self.creditors[relay]?.debts[position].isInFlight = false
            self.creditors[relay]?.debts[position].dueAt = dueAt
            return .retry(atMilliseconds: dueAt)
        case .refused: return self.pay(id, relay)
        case .unreachable:
            self.creditors[relay]?.debts[position].isInFlight = false
            guard let creditor = self.creditors[relay], creditor.dueAt <= now else { return .none }
            let dueAt = now + Self.delay(creditor.failures)
            self.creditors[relay]?.dueAt = dueAt
            self.creditors[relay]?.failures += 1
            return .retry(atMilliseconds: dueAt)
        }
    }

    private static func delay(_ failures: Int) -> Int64 {
        min(Self.firstDelay << Int64(min(max(0, failures), 10)), Self.maximumDelay)
    }

    /// Whether a debt is on its way.
    func isInFlight(_ id: String, _ relay: RelayURL) -> Bool {
        self.creditors[relay]?.debts.contains { $0.row == id && $0.isInFlight } == true
    }

    /// Makes what a relay lacks due: it is back.
    mutating func hurry(_ relay: RelayURL) {
        guard let count = self.creditors[relay]?.debts.count else { return }
        self.creditors[relay]?.dueAt = 0
        for position in 0..<count { self.creditors[relay]?.debts[position].dueAt = 0 }
    }

    /// Forgets what is too old to matter; returns the rows.
    mutating func expire(now: Int64) -> [String] {
        let old = self.rows.values.filter { now - ($0.leftover?.settledAt ?? now) >= Self.lifetime }.map(\.id)
        for id in old { self.remove(id) }
        return old
    }

    private mutating func pay(_ id: String, _ relay: RelayURL) -> Outcome {
        guard let row = self.rows[id] else { return .none }
        self.drop(row, relay)
        self.rows[id]?.leftover?.relays.removeAll { $0 == relay }
        guard self.rows[id]?.leftover?.relays.isEmpty == true else { return .none }
        self.rows[id] = nil
        return .paid(row: id)
    }

    private mutating func drop(_ row: OutboxRow, _ relay: RelayURL) {
        self.creditors[relay]?.debts.removeAll { $0.row == row.id }
        if self.creditors[relay]?.debts.isEmpty == true { self.creditors[relay] = nil }
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
    /// What it leaves in order with: its group, or the account.
    var lane: GroupID? { self.groupID }
}
