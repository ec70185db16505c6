import Nostr

/// The outbox: what is on its way, what waits, and when to try again. Pure; ids are those of ``OutboxRow``.
struct PublishQueue: Sendable {
    /// Events of one lane (a group, or the account) that may be unanswered at once.
    static let window = 32
    /// Milliseconds before the second attempt; doubled each time, up to the maximum.
    static let firstDelay: Int64 = 500
    static let maximumDelay: Int64 = 30_000

    private enum Phase: Sendable, Hashable {
        case waiting
        case inFlight(refusals: [String], unreachable: Int)
        case delayed(until: Int64)
    }

    private struct Entry: Sendable {
        var row: OutboxRow
        var phase: Phase
    }

    /// How an attempt ended.
    enum Verdict: Sendable, Hashable {
        /// The relays are still being asked, or it is over already.
        case none
        case retry(atMilliseconds: Int64)
        /// Every relay said no.
        case refused(String)
    }

    private var entries: [String: Entry] = [:]
    /// Row ids by lane in the order of their sequence.
    private var lanes: [[UInt8]: [String]] = [:]

    var count: Int { self.entries.count }

    func row(_ id: String) -> OutboxRow? { self.entries[id]?.row }
    func contains(where condition: (OutboxRow) -> Bool) -> Bool { self.entries.values.contains { condition($0.row) } }

    /// The rows that carry a message.
    func rows(ofMessage id: EventID) -> [String] {
        self.entries.values.filter { $0.row.messageID == id }.map(\.row.id)
    }

    /// Appends a row; false if one with its id is there already.
    mutating func add(_ row: OutboxRow) -> Bool {
        guard self.entries[row.id] == nil else { return false }
        self.entries[row.id] = Entry(row: row, phase: .waiting)
        self.lanes[row.groupID ?? [], default: []].append(row.id)
        return true
    }

    /// The rows to publish now, in order, `except` some; they count as in flight from here on.
    mutating func start(nowMilliseconds now: Int64, except held: Set<String> = []) -> [OutboxRow] {
        var started: [OutboxRow] = []
        for ids in self.lanes.values {
            for id in ids.prefix(Self.window) {
                guard var entry = self.entries[id], !held.contains(id) else { continue }
                switch entry.phase {
                case .inFlight: continue
                case .delayed(let until) where until > now: continue
                case .waiting, .delayed: break
                }
                entry.phase = .inFlight(refusals: [], unreachable: 0)
                entry.row.attempts += 1
                self.entries[id] = entry
                started.append(entry.row)
            }
        }
        return started.sorted { $0.sequence < $1.sequence }
    }

    /// Notes one relay's answer; the row itself if this relay is the first to have it: then it is done.
    mutating func report(_ id: String, _ outcome: PublishReport.Outcome) -> OutboxRow? {
        guard var entry = self.entries[id], case .inFlight(var refusals, var unreachable) = entry.phase else {
            return nil
        }
        switch outcome {
        case .accepted: return self.remove(id)
        case .refused(let message) where Self.isTemporary(message): unreachable += 1
        case .refused(let message): refusals.append(message)
        case .unreachable: unreachable += 1
        }
        entry.phase = .inFlight(refusals: refusals, unreachable: unreachable)
        self.entries[id] = entry
        return nil
    }

    /// Refusals that another attempt may overcome (NIP-01 prefixes).
    private static func isTemporary(_ message: String) -> Bool {
        ["rate-limited:", "error:", "auth-required:"].contains(where: message.hasPrefix)
    }

    /// Notes that no more answers come in this attempt.
    mutating func end(_ id: String, nowMilliseconds now: Int64) -> Verdict {
        guard var entry = self.entries[id], case .inFlight(let refusals, let unreachable) = entry.phase else {
            return .none
        }
        if let reason = refusals.first, unreachable == 0 { return .refused(reason) }
        let doublings = min(entry.row.attempts - 1, 10)
        let until = now + min(Self.firstDelay << Int64(max(0, doublings)), Self.maximumDelay)
        entry.phase = .delayed(until: until)
        self.entries[id] = entry
        return .retry(atMilliseconds: until)
    }

    /// Makes delayed rows due: a relay is back.
    mutating func hurry() {
        for (id, entry) in self.entries {
            if case .delayed = entry.phase { self.entries[id]?.phase = .waiting }
        }
    }

    @discardableResult
    mutating func remove(_ id: String) -> OutboxRow? {
        guard let entry = self.entries.removeValue(forKey: id) else { return nil }
        let lane = entry.row.groupID ?? []
        if let position = self.lanes[lane]?.firstIndex(of: id) { self.lanes[lane]?.remove(at: position) }
        if self.lanes[lane]?.isEmpty == true { self.lanes[lane] = nil }
        return entry.row
    }
}
