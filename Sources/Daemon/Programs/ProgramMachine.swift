import Nostr

/// A bot that runs as an external program: the recorded events that it has consumed, and its current run. Pure.
struct ProgramMachine: Sendable {
    enum Effect: Sendable, Hashable {
        /// Stores the consumed events.
        case store(JSONObject)
        /// Looks for events to send.
        case wake
        /// Admits events of the core: the backlog has room.
        case admit
    }

    /// One event on its way to the program.
    struct Delivery: Sendable, Hashable {
        let cursor: Int64
        /// Whether the event counts as consumed once its line is written.
        let isConsumedOnWrite: Bool
        fileprivate let clientID: ObjectIdentifier
        fileprivate let generation: Int
    }

    enum StallCheck: Sendable, Hashable {
        case stalled(ProgramStall)
        /// Not yet; check again at this time (milliseconds).
        case checkAgain(at: Int64)
    }

    /// Slots of the log reserved for records without an event of the core.
    private static let reserve: Int64 = 64

    /// The rules of the program; nil for a daemon with clients.
    let rules: ProgramRules?
    /// Maximum number of events in the backlog.
    private let capacity: Int64
    private var consumed = ConsumedEvents()
    private var run: ProgramProgress?
    /// Whether no program will run again.
    private(set) var isOver = false

    init(_ rules: ProgramRules?, keptEvents: Int64) {
        self.rules = rules
        self.capacity = max(1, keptEvents - Self.reserve)
    }

    mutating func restore(_ stored: JSONObject) { self.consumed = ConsumedEvents(stored) }

    // MARK: Runs

    mutating func begin(_ client: DaemonClient, now: Int64) {
        self.run = ProgramProgress(client, self.consumed, now: now)
    }

    func isRunning(_ client: DaemonClient) -> Bool { self.run?.clientID == client.id }

    /// Timeout in milliseconds for the program's first command.
    var confirmationDelay: Int64? {
        guard let rules = self.rules, let run = self.run else { return nil }
        return run.consumedAtStart.acknowledges == true ? rules.helloAgainPatience : rules.helloPatience
    }

    /// Ends a run. After a failure its oldest unconsumed event is blamed, and becomes a dead letter after too many
    /// failures.
    ///
    /// - Parameters:
    ///   - failure: nil if the program ended as intended.
    ///   - last: cursor of the newest recorded event.
    mutating func finish(
        _ client: DaemonClient, because failure: ProgramFailure?, last: Int64
    ) -> (report: ProgramReport, deadLetter: Int64?, effects: [Effect]) {
        guard let run = self.run, run.clientID == client.id else { return (ProgramReport(), nil, []) }
        self.run = nil
        var report = ProgramReport(isShutDown: run.isShutDown)
        // A failure before the first command is not due to an event. A stalled program may have been sent no event yet.
        guard let failure, !run.isShutDown, run.isConfirmed, let rules = self.rules else { return (report, nil, []) }
        let newest = failure == .stalled(.consumesNothing) ? last : run.position
        guard let cursor = self.consumed.oldestUnconsumed(upTo: newest) else { return (report, nil, []) }
        let count = self.consumed.recordFailure(of: cursor)
        report.blamed = (cursor, count)
        guard count >= rules.tries else { return (report, nil, [.store(self.consumed.json)]) }
        return (report, cursor, self.consume(cursor, last: last, now: 0))
    }

    /// Notes that no program will run again.
    mutating func end() { self.isOver = true }

    // MARK: Events to the program

    /// Returns the next event to send; nil if none may be sent now.
    mutating func sendNext(to client: DaemonClient, last: Int64) -> Delivery? {
        guard let rules = self.rules, let run = self.run, run.clientID == client.id,
            let cursor = run.next(self.consumed, last: last, limit: rules.openEvents)
        else { return nil }
        self.run?.position = cursor
        return Delivery(
            cursor: cursor, isConsumedOnWrite: run.mode == .onWrite, clientID: run.clientID,
            generation: run.generation)
    }

    /// Returns whether the event should still be sent: the mode has not changed since.
    func isCurrent(_ delivery: Delivery) -> Bool { self.run?.generation == delivery.generation }

    /// Consumes an event that cannot be sent: its message is gone, or no longer visible to the program.
    mutating func skip(_ delivery: Delivery, last: Int64, now: Int64) -> [Effect] {
        if let run = self.run, run.clientID == delivery.clientID, run.generation == delivery.generation,
            run.mode == .onWrite
        {
            self.run?.written = max(run.written, delivery.cursor)
        }
        return self.consume(delivery.cursor, last: last, now: now)
    }

    /// Notes that the line of an event is written.
    mutating func written(_ delivery: Delivery, last: Int64, now: Int64) -> [Effect] {
        guard var run = self.run, run.generation == delivery.generation else { return [] }
        run.written = max(run.written, delivery.cursor)
        run.progressedAt = now
        self.run = run
        return run.isConfirmed ? self.consume(delivery.cursor, last: last, now: now) : []
    }

    /// Notes new records. If the program was idle, its stall timer starts now.
    ///
    /// - Parameter previous: cursor of the newest event before them.
    mutating func recorded(after previous: Int64, now: Int64) -> [Effect] {
        guard let run = self.run else { return [] }
        if !run.isBehind(self.consumed, last: previous) { self.run?.progressedAt = now }
        return [.wake]
    }

    // MARK: Commands of the program

    /// Marks the program as working, so that its written events count as consumed. Without a `hello` so far, it does
    /// not use the extension.
    mutating func confirm(_ client: DaemonClient, last: Int64, now: Int64) -> [Effect] {
        guard let run = self.run, run.clientID == client.id, !run.isConfirmed, run.requested == nil else { return [] }
        self.run?.isConfirmed = true
        switch run.mode {
        case .explicit: return []
        case .undecided:
            self.run?.decide(.onWrite, now: now)
            return [.wake] + self.remember(.onWrite)
        case .onWrite:
            guard self.consumed.upTo < run.written else { return [] }
            self.consumed.consume(through: run.written)
            self.run?.progressedAt = now
            return [.wake] + self.admissions(last) + [.store(self.consumed.json)]
        }
    }

    /// Remembers the mode that `hello` has asked for, until its reply is queued.
    mutating func request(_ hello: DaemonCommand.Hello, _ client: DaemonClient, oldestCursor: Int64) {
        guard let run = self.run, run.clientID == client.id else { return }
        if hello.acknowledges {
            // Replays events written before the program asked to acknowledge them.
            let position = run.mode == .explicit ? self.consumed.upTo : run.consumedAtStart.upTo
            self.run?.requested = (.explicit, position)
        } else {
            // Events up to the program's own cursor are consumed; those not known to be written are sent again.
            let position = hello.cursor.map { max($0, oldestCursor - 1) }
            self.run?.requested = (.onWrite, position ?? max(self.consumed.upTo, run.written))
        }
    }

    /// Applies the mode that `hello` has asked for, after its reply.
    mutating func applyRequest(of client: DaemonClient, last: Int64, now: Int64) -> [Effect] {
        guard var run = self.run, run.clientID == client.id, let (mode, position) = run.requested else { return [] }
        if mode == .explicit, run.mode != .explicit, run.consumedAtStart.upTo < self.consumed.upTo {
            self.consumed = run.consumedAtStart
        }
        run.requested = nil
        run.isConfirmed = true
        run.position = position
        run.written = position
        run.decide(mode, now: now)
        self.run = run
        var effects: [Effect] = [.wake]
        if mode == .onWrite, self.consumed.upTo < position {
            self.consumed.consume(through: position)
            effects += self.admissions(last)
            effects.append(.store(self.consumed.json))
        }
        return effects + self.remember(mode)
    }

    mutating func acknowledge(
        _ cursor: Int64, _ client: DaemonClient, last: Int64, now: Int64
    ) throws(DaemonFailure) -> [Effect] {
        guard let run = self.run, run.clientID == client.id, run.mode == .explicit else {
            throw DaemonFailure(.badRequest, "`ack` requires a `hello` with \"acks\":true from a program")
        }
        guard cursor > 0, cursor <= run.position else {
            throw DaemonFailure(
                .badCursor, "`cursor`: expected a cursor sent in this run of the program, found \(cursor)")
        }
        return self.consume(cursor, last: last, now: now)
    }

    /// Notes that the program has sent `shutdown`.
    mutating func shutDown() { self.run?.isShutDown = true }

    /// Counts a line that is not a command; returns the count at each power of ten.
    mutating func countInvalidLine() -> Int? {
        self.run?.invalidLines += 1
        return self.run.map(\.invalidLines).flatMap { $0.isPowerOfTen ? $0 : nil }
    }

    mutating func beginWaiting(_ client: DaemonClient, now: Int64) {
        if self.isRunning(client) { self.run?.beginWaiting(now: now) }
    }

    mutating func endWaiting(_ client: DaemonClient, now: Int64) {
        if self.isRunning(client) { self.run?.endWaiting(now: now) }
    }

    /// Checks whether the program has stalled for this long; returns nil when its run is over.
    func checkStall(of client: DaemonClient, milliseconds: Int64, last: Int64, now: Int64) -> StallCheck? {
        guard let run = self.run, run.clientID == client.id else { return nil }
        let stall = run.stall(self.consumed, last: last)
        // checked: times of this process and a configured duration.
        let end = (stall?.since ?? now) + milliseconds
        if let stall, now >= end { return .stalled(stall.kind) }
        return .checkAgain(at: end)
    }

    // MARK: Backlog

    /// Number of recorded events that the program has not consumed.
    func waitingEvents(last: Int64) -> Int64 { self.span(last: last) - Int64(self.consumed.beyond.count) }

    /// Number of events from the oldest unconsumed one to the newest.
    func span(last: Int64) -> Int64 { self.consumed.span(upTo: last) }

    func hasRoom(last: Int64) -> Bool { self.span(last: last) < self.capacity }

    // MARK: Consumed events

    private mutating func consume(_ cursor: Int64, last: Int64, now: Int64) -> [Effect] {
        guard !self.consumed.contains(cursor) else { return [] }
        self.consumed.consume(cursor)
        self.run?.progressedAt = now
        return [.wake] + self.admissions(last) + [.store(self.consumed.json)]
    }

    private mutating func remember(_ mode: ProgramProgress.AckMode) -> [Effect] {
        guard self.consumed.acknowledges != (mode == .explicit) else { return [] }
        self.consumed.acknowledges = mode == .explicit
        return [.store(self.consumed.json)]
    }

    private func admissions(_ last: Int64) -> [Effect] { self.hasRoom(last: last) ? [.admit] : [] }
}

extension Int {
    fileprivate var isPowerOfTen: Bool {
        var power = 1
        while power < self {
            let (next, overflows) = power.multipliedReportingOverflow(by: 10)
            guard !overflows else { return false }
            power = next
        }
        return power == self
    }
}
