import MLS
import Nostr

/// The outbox: rows in flight, rows waiting, and retry times. Pure; ids are those of ``OutboxRow``.
///
/// A row is settled as soon as one relay has accepted it: its effect holds from then on, and the other relays receive
/// it through ``RelayBacklog``.
struct PublishQueue: Sendable {
    /// The maximum number of unacknowledged events of one lane (a group, or the account).
    static let window = 32
    /// Milliseconds before the second attempt; doubled each time, up to the maximum.
    static let firstDelay: Int64 = 500
    static let maximumDelay: Int64 = 30_000

    /// One attempt to publish a row.
    private struct Attempt: Sendable, Hashable {
        /// The start of the attempt, in Unix milliseconds.
        let began: Int64
        /// Relays that have not answered.
        var outstanding: Set<RelayURL>
        /// Relays that must not receive the row yet.
        var excluded: [RelayURL]
        var unreachable: [RelayURL] = []
        var refusals: [String] = []
    }

    private enum Phase: Sendable, Hashable {
        case waiting
        case inFlight(Attempt)
        case delayed(until: Int64)
    }

    private struct Entry: Sendable {
        var row: OutboxRow
        var phase: Phase
        /// Unix milliseconds; for a stored row, when this process first tried to send it.
        var queuedAt: Int64?
    }

    /// A row to publish now, and the relays to publish it to.
    struct Departure: Sendable, Hashable {
        let row: OutboxRow
        let relays: [RelayURL]
    }

    /// The effect of one relay's answer.
    enum Progress: Sendable, Hashable {
        case none
        /// This relay is the first to accept the row; `forgotten` are the leftovers dropped to make room.
        case settled(OutboxRow, forgotten: [String])
        /// All relays of a settled row have received it, or need not.
        case delivered(row: String)
        /// A relay that lacks a settled row is to be retried at this time.
        case retry(atMilliseconds: Int64)
    }

    /// The outcome of an attempt.
    enum Verdict: Sendable, Hashable {
        /// Some relays have not answered, or the attempt is over already.
        case none
        case retry(atMilliseconds: Int64)
        /// Every relay refused the row.
        case refused(String)
    }

    private var entries: [String: Entry] = [:]
    /// The row ids by event.
    private var events: [EventID: String] = [:]
    /// Row ids by lane in the order of their sequence.
    private var lanes: [GroupID?: [String]] = [:]
    private(set) var backlog = RelayBacklog()
    /// The call signals among the rows that no relay has accepted.
    private(set) var signals: Set<String> = []
    private var lastSequence: Int64 = 0

    /// Rows that no relay has yet.
    var count: Int { self.entries.count }

    /// Unix milliseconds when the oldest unsettled row was queued; nil if there is no such row, or only
    /// restored ones that were not sent yet.
    var oldestQueuedAt: Int64? { self.entries.values.lazy.compactMap(\.queuedAt).min() }

    /// Unix milliseconds when the row's current attempt began; nil if it is not in flight.
    func attemptBegan(_ id: String) -> Int64? {
        guard case .inFlight(let attempt) = self.entries[id]?.phase else { return nil }
        return attempt.began
    }

    func row(_ id: String) -> OutboxRow? { self.entries[id]?.row ?? self.backlog.row(id) }
    /// The ids of the matching rows that no relay has accepted yet.
    func ids(where condition: (OutboxRow) -> Bool) -> Set<String> {
        Set(self.entries.values.lazy.map(\.row).filter(condition).map(\.id))
    }

    /// Whether a row that no relay has accepted yet matches.
    func contains(where condition: (OutboxRow) -> Bool) -> Bool { self.entries.values.contains { condition($0.row) } }

    func rows(where condition: (OutboxRow) -> Bool) -> [OutboxRow] {
        self.entries.values.map(\.row).filter(condition)
    }

    /// The rows that carry a message, settled ones included.
    func rows(ofMessage id: EventID, in groupID: GroupID) -> [String] {
        self.entries.values.filter { $0.row.messageID == id && $0.row.groupID == groupID }.map(\.row.id)
            + self.backlog.rows(ofMessage: id, in: groupID)
    }

    /// The id of the row that carries an event which no relay has accepted yet.
    func row(ofEvent id: EventID) -> String? { self.events[id] }

    /// Appends a row; false if the queue has one with its id.
    mutating func add(_ row: OutboxRow, atMilliseconds now: Int64? = nil) -> Bool {
        self.lastSequence = max(self.lastSequence, row.sequence)
        guard self.row(row.id) == nil else { return false }
        if row.leftover != nil {
            _ = self.backlog.add(row)
            return true
        }
        self.entries[row.id] = Entry(row: row, phase: .waiting, queuedAt: now)
        self.events[row.event.id] = row.id
        self.lanes[row.lane, default: []].append(row.id)
        if row.purpose == .callSignal { self.signals.insert(row.id) }
        return true
    }

    /// Returns the rows to publish now, in order; they count as in flight from here on.
    ///
    /// - Parameters:
    ///   - held: rows that must wait; they are skipped.
    ///   - away: relays that are not connected; leftovers wait until they reconnect.
    mutating func start(
        nowMilliseconds now: Int64, except held: Set<String> = [], away: Set<RelayURL> = []
    ) -> [Departure] {
        var started: [Departure] = []
        for ids in self.lanes.values {
            for id in ids.lazy.filter({ !held.contains($0) }).prefix(Self.window) {
                guard var entry = self.entries[id] else { continue }
                switch entry.phase {
                case .inFlight: continue
                case .delayed(let until) where until > now: continue
                case .waiting, .delayed: break
                }
                let excluded = entry.row.relays.filter { self.backlog.lacksCommit(before: entry.row, $0) }
                let relays = excluded.isEmpty ? entry.row.relays : entry.row.relays.filter { !excluded.contains($0) }
                if relays.isEmpty, !excluded.isEmpty { continue }
                entry.phase = .inFlight(Attempt(began: now, outstanding: Set(relays), excluded: excluded))
                entry.queuedAt = entry.queuedAt ?? now
                entry.row.attempts += 1
                self.entries[id] = entry
                started.append(Departure(row: entry.row, relays: relays))
            }
        }
        for (row, relay) in self.backlog.start(nowMilliseconds: now, away: away) {
            started.append(Departure(row: row, relays: [relay]))
        }
        return started.sorted { $0.row.sequence < $1.row.sequence }
    }

    /// Records one relay's answer.
    mutating func report(_ id: String, _ report: PublishReport, nowMilliseconds now: Int64) -> Progress {
        guard var entry = self.entries[id] else {
            switch self.backlog.report(id, report, nowMilliseconds: now) {
            case .none: return .none
            case .delivered(let row): return .delivered(row: row)
            case .retry(let time): return .retry(atMilliseconds: time)
            }
        }
        guard case .inFlight(var attempt) = entry.phase else { return .none }
        attempt.outstanding.remove(report.relay)
        entry.phase = .inFlight(attempt)
        switch report.outcome {
        case .accepted:
            self.entries[id] = entry
            return self.settle(id, except: report.relay, now: UnixTime(milliseconds: now))
        case .refused(let message) where !Self.isTemporary(message, for: entry.row.purpose):
            attempt.refusals.append(message)
        case .refused, .unreachable: attempt.unreachable.append(report.relay)
        }
        entry.phase = .inFlight(attempt)
        self.entries[id] = entry
        return .none
    }

    /// Whether a retry may overcome a refusal (NIP-01 prefixes).
    static func isTemporary(_ message: String, for purpose: OutboxRow.Purpose? = nil) -> Bool {
        let prefixes = purpose?.isBrief == true ? ["auth-required:"] : ["rate-limited:", "error:", "auth-required:"]
        return prefixes.contains(where: message.hasPrefix)
    }

    /// Settles a row that a relay has, `relay` if it is known which; the others receive it in the background.
    mutating func settle(_ id: String, except relay: RelayURL? = nil, now: UnixTime) -> Progress {
        guard let entry = self.entries[id] else { return .none }
        self.removeEntry(id)
        var row = entry.row
        var inFlight: Set<RelayURL> = []
        var lacking = row.relays
        if case .inFlight(let attempt) = entry.phase {
            inFlight = attempt.outstanding
            let others = attempt.excluded + attempt.unreachable
            lacking = row.relays.filter { inFlight.contains($0) || others.contains($0) }
        }
        // A proposal that arrives after its epoch is over makes MDK 0.7 roll back (docs/protocol/marmot.md §11.21).
        // Typing notices, call signals and notifications are useless by then.
        if row.purpose.isBrief || [.proposal, .typing].contains(row.purpose) { lacking = [] }
        row.leftover = OutboxRow.Leftover(settledAt: now, relays: lacking.filter { $0 != relay })
        return .settled(row, forgotten: self.backlog.add(row, inFlight: inFlight))
    }

    /// Records that these relays send no more answers in this attempt.
    mutating func end(_ id: String, relays: [RelayURL], nowMilliseconds now: Int64) -> Verdict {
        guard var entry = self.entries[id] else { return self.endBacklog(id, relays, now) }
        guard case .inFlight(let attempt) = entry.phase else { return .none }
        // The end of an earlier attempt, whose row was replaced by one to more relays.
        guard attempt.outstanding.isSubset(of: relays) else { return .none }
        let isOpen = !attempt.unreachable.isEmpty || !attempt.outstanding.isEmpty || !attempt.excluded.isEmpty
        if let reason = attempt.refusals.first, !isOpen { return .refused(reason) }
        let isBrief = entry.row.purpose.isBrief
        if isBrief, entry.row.attempts >= OutboxRow.maximumSignalAttempts { return .refused("no relay answered") }
        let doublings = min(entry.row.attempts - 1, 10)
        let firstDelay = isBrief ? OutboxRow.firstSignalDelay : Self.firstDelay
        let until = now + min(firstDelay << Int64(max(0, doublings)), Self.maximumDelay)
        entry.phase = .delayed(until: until)
        self.entries[id] = entry
        return .retry(atMilliseconds: until)
    }

    /// Counts relays that did not answer as unreachable.
    private mutating func endBacklog(_ id: String, _ relays: [RelayURL], _ now: Int64) -> Verdict {
        var verdict = Verdict.none
        for relay in relays where self.backlog.isInFlight(id, relay) {
            let silence = PublishReport(relay: relay, outcome: .unreachable("no answer"))
            if case .retry(let time) = self.backlog.report(id, silence, nowMilliseconds: now) {
                verdict = .retry(atMilliseconds: time)
            }
        }
        return verdict
    }

    /// Makes delayed rows due, since a relay has reconnected.
    mutating func makeDue(_ relay: RelayURL) {
        for (id, entry) in self.entries {
            if case .delayed = entry.phase { self.entries[id]?.phase = .waiting }
        }
        self.backlog.makeDue(relay)
    }

    /// Makes a delayed row due; false if it is not delayed.
    mutating func makeDue(row id: String) -> Bool {
        guard case .delayed = self.entries[id]?.phase else { return false }
        self.entries[id]?.phase = .waiting
        return true
    }

    /// Drops leftovers that are too old; returns their ids.
    mutating func expireLeftovers(now: UnixTime) -> [String] { self.backlog.expire(now: now) }

    @discardableResult
    mutating func remove(_ id: String) -> OutboxRow? {
        self.removeEntry(id) ?? self.backlog.remove(id)
    }

    @discardableResult
    private mutating func removeEntry(_ id: String) -> OutboxRow? {
        guard let entry = self.entries.removeValue(forKey: id) else { return nil }
        // An empty dictionary keeps its memory, and most queues are empty most of the time.
        if self.entries.isEmpty { self.entries = [:] }
        self.signals.remove(id)
        self.events[entry.row.event.id] = nil
        let lane = entry.row.lane
        if let position = self.lanes[lane]?.firstIndex(of: id) { self.lanes[lane]?.remove(at: position) }
        if self.lanes[lane]?.isEmpty == true { self.lanes[lane] = nil }
        return entry.row
    }
}

// MARK: - Changes and effects

extension PublishQueue {
    /// Appends and stores an event, which is published as soon as it is durable. Returns false if the queue has a row
    /// with its id. Typing notices are not stored.
    mutating func append(
        id: String, _ event: Event, to relays: [RelayURL], _ purpose: OutboxRow.Purpose, groupID: GroupID?,
        messageID: EventID?, _ step: inout CoreStep
    ) -> Bool {
        self.lastSequence += 1
        let row = OutboxRow(
            id: id, sequence: self.lastSequence, event: event, relays: relays, purpose: purpose, groupID: groupID,
            messageID: messageID)
        guard self.add(row, atMilliseconds: step.nowMilliseconds) else { return false }
        if purpose != .typing { step.changes.append(.putOutbox(row)) }
        return true
    }

    /// Publishes the rows that may be sent now; parameters as for ``start(nowMilliseconds:except:away:)``.
    mutating func publish(except held: Set<String>, away: Set<RelayURL>, _ step: inout CoreStep) {
        for departure in self.start(nowMilliseconds: step.nowMilliseconds, except: held, away: away) {
            step.effects.append(.publish(row: departure.row.id, departure.row.event, departure.relays))
        }
    }

    /// Settles a row that some relay has, and stores the result. Returns whether it was not settled before.
    mutating func settle(_ id: String, _ step: inout CoreStep) -> Bool {
        guard case .settled(let row, let forgotten) = self.settle(id, now: step.now) else { return false }
        step.effects.append(.note(.sent(milliseconds: nil)))
        Self.store(settled: row, forgotten, &step)
        return true
    }

    static func store(settled row: OutboxRow, _ forgotten: [String], _ step: inout CoreStep) {
        for id in forgotten { step.changes.append(.deleteOutbox(id: id)) }
        if let leftover = row.leftover, !leftover.relays.isEmpty {
            step.changes.append(.settleOutbox(id: row.id, leftover))
        } else {
            step.changes.append(.deleteOutbox(id: row.id))
        }
    }

    /// Removes a row, regardless of which relays have it; nil if absent.
    mutating func remove(_ id: String, _ step: inout CoreStep) -> OutboxRow? {
        guard let row = self.remove(id) else { return nil }
        step.changes.append(.deleteOutbox(id: id))
        return row
    }

    mutating func expireLeftovers(_ step: inout CoreStep) {
        for id in self.expireLeftovers(now: step.now) { step.changes.append(.deleteOutbox(id: id)) }
    }
}
