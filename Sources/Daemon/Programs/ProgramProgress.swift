/// The progress of the program through the event log in one of its runs.
struct ProgramProgress: Sendable {
    /// The rule by which an event counts as consumed.
    enum AckMode: Hashable, Sendable {
        /// Undecided: no event is sent until the program has sent `hello` or another command, or the timeout is
        /// over.
        case undecided
        /// When its line is written and the program is known to work (``ProgramProgress/isConfirmed``).
        case onWrite
        /// When the program sends `ack`.
        case explicit
    }

    let clientID: ObjectIdentifier
    /// The consumed events at the start of the run.
    let consumedAtStart: ConsumedEvents
    private(set) var mode = AckMode.undecided
    /// Incremented with each decision on ``mode``; events being sent under an earlier one are dropped.
    private(set) var generation = 0
    /// The mode and position that `hello` has asked for; applied after its reply.
    var requested: (mode: AckMode, position: Int64)?
    /// The newest event that was sent, and the newest whose line is written.
    var position: Int64
    var written: Int64
    /// Whether the program has sent a command or has run for a while. One that fails at its start has consumed nothing.
    var isConfirmed = false
    /// Milliseconds: when an event was last consumed, or when the first one began to wait.
    var progressedAt: Int64
    /// The number of replies that wait for room, and the time since which none has been written.
    private var blocked: (count: Int, since: Int64) = (0, 0)
    /// Whether the program has sent `shutdown`.
    var isShutDown = false
    /// Number of lines that were not commands.
    var invalidLines = 0

    init(_ client: DaemonClient, _ consumed: ConsumedEvents, now: Int64) {
        self.clientID = client.id
        self.consumedAtStart = consumed
        self.position = consumed.upTo
        self.written = consumed.upTo
        self.progressedAt = now
        if consumed.acknowledges == false { self.mode = .onWrite }
    }

    mutating func decide(_ mode: AckMode, now: Int64) {
        self.mode = mode
        self.generation &+= 1
        self.progressedAt = now
    }

    /// Returns whether events wait for the program.
    func isBehind(_ consumed: ConsumedEvents, last: Int64) -> Bool {
        switch self.mode {
        case .undecided: false
        case .onWrite: self.written < last
        case .explicit: consumed.oldestUnconsumed(upTo: last) != nil
        }
    }

    /// Returns the kind and start of the program's stall; nil if nothing waits for it.
    func stall(_ consumed: ConsumedEvents, last: Int64) -> (kind: ProgramStall, since: Int64)? {
        let isBlocked = self.blocked.count > 0
        guard self.isBehind(consumed, last: last) else {
            return isBlocked ? (.readsNothing, self.blocked.since) : nil
        }
        return isBlocked && self.blocked.since <= self.progressedAt
            ? (.readsNothing, self.blocked.since) : (.consumesNothing, self.progressedAt)
    }

    mutating func beginWaiting(now: Int64) {
        if self.blocked.count == 0 { self.blocked.since = now }
        self.blocked.count += 1
    }

    mutating func endWaiting(now: Int64) { self.blocked = (max(0, self.blocked.count - 1), now) }

    /// Returns the next event to send; nil if none may be sent now.
    ///
    /// - Parameter limit: maximum number of events in flight.
    func next(_ consumed: ConsumedEvents, last: Int64, limit: Int) -> Int64? {
        guard self.mode != .undecided else { return nil }
        if self.mode == .explicit, self.inFlight(consumed) >= limit { return nil }
        var cursor = self.position + 1
        while cursor <= last, self.mode == .explicit, consumed.contains(cursor) { cursor += 1 }
        return cursor <= last ? cursor : nil
    }

    /// Returns the number of sent events that are not consumed.
    private func inFlight(_ consumed: ConsumedEvents) -> Int {
        let beyond = consumed.beyond.count { $0 <= self.position }
        return max(0, Int(clamping: self.position - consumed.upTo) - beyond)
    }
}
