import Nostr
import PikaCore

/// The current run of the program, and its position in the event log.
struct Feed {
    /// When an event counts as consumed.
    enum Manner: Hashable {
        /// Undecided: no event is sent until the program has said `hello` or sent another command, or the timeout is
        /// over.
        case undecided
        /// When its line is written and the program has proved that it works (``Feed/isProven``).
        case written
        /// When the program sends `ack`.
        case acknowledged
    }

    let client: DaemonClient
    /// The consumed events at the start of the run.
    let taken: TakenEvents
    private(set) var manner = Manner.undecided
    /// Incremented with each decision on ``manner``; events being sent under an earlier one are dropped.
    private(set) var wish = 0
    /// What `hello` has asked for; applied after its reply.
    var promised: (manner: Manner, position: Int64)?
    /// The newest event that was sent, and the newest whose line is written.
    var position: Int64
    var written: Int64
    /// Whether the program has sent a command or has run for a while. One that fails at its start has consumed nothing.
    var isProven = false
    /// Milliseconds: when an event was last consumed, or when the first one began to wait.
    var movedAt: Int64
    /// Replies that wait for room, and since when none has been written.
    private var blocked: (count: Int, since: Int64) = (0, 0)
    /// Whether the program has said `shutdown`.
    var isShutDown = false
    /// Number of lines that were not commands.
    var garbage = 0
    let news: News

    typealias News = (stream: AsyncStream<Void>, wake: AsyncStream<Void>.Continuation)

    init(_ client: DaemonClient, _ taken: TakenEvents, now: Int64, news: News) {
        self.client = client
        self.taken = taken
        self.position = taken.upTo
        self.written = taken.upTo
        self.movedAt = now
        self.news = news
        if taken.acknowledges == false { self.manner = .written }
    }

    mutating func decide(_ manner: Manner, now: Int64) {
        self.manner = manner
        self.wish += 1
        self.movedAt = now
        self.news.wake.yield()
    }

    /// Returns whether events wait for the program.
    func isBehind(_ taken: TakenEvents, last: Int64) -> Bool {
        switch self.manner {
        case .undecided: false
        case .written: self.written < last
        case .acknowledged: taken.oldestOpen(upTo: last) != nil
        }
    }

    /// Returns how the program is stalling, and since when; nil if nothing waits for it.
    func behind(_ taken: TakenEvents, last: Int64) -> (stall: ProgramStall, since: Int64)? {
        let isBlocked = self.blocked.count > 0
        guard self.isBehind(taken, last: last) else {
            return isBlocked ? (.readsNothing, self.blocked.since) : nil
        }
        return isBlocked && self.blocked.since <= self.movedAt
            ? (.readsNothing, self.blocked.since) : (.takesNothing, self.movedAt)
    }

    mutating func beginWaiting(now: Int64) {
        if self.blocked.count == 0 { self.blocked.since = now }
        self.blocked.count += 1
    }

    mutating func endWaiting(now: Int64) { self.blocked = (max(0, self.blocked.count - 1), now) }

    /// Returns the next event to send; nil if none may be sent now.
    func next(_ taken: TakenEvents, last: Int64, width: Int) -> Int64? {
        guard self.manner != .undecided else { return nil }
        if self.manner == .acknowledged, self.open(taken) >= width { return nil }
        var cursor = self.position + 1
        while cursor <= last, self.manner == .acknowledged, taken.contains(cursor) { cursor += 1 }
        return cursor <= last ? cursor : nil
    }

    /// Returns the number of sent events that are not consumed.
    private func open(_ taken: TakenEvents) -> Int {
        let beyond = taken.beyond.count { $0 <= self.position }
        return max(0, Int(clamping: self.position - taken.upTo) - beyond)
    }
}
