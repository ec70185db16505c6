import Nostr
import PikaCore

/// The program that is there now, and how far it was told.
struct Feed {
    /// When an event counts as taken.
    enum Manner: Hashable {
        /// It is not known yet: nothing is told until the program has said `hello` or something else, or time is up.
        case undecided
        /// When its line is written, and the program has shown that it works (``Feed/isProven``).
        case written
        /// When the program says `ack`.
        case acknowledged
    }

    let client: DaemonClient
    /// As it was when the program began.
    let taken: TakenEvents
    private(set) var manner = Manner.undecided
    /// Counts what the program has asked for: what is being told for an earlier wish is not told any more.
    private(set) var wish = 0
    /// What `hello` has asked for, once its reply is on the way.
    var promised: (manner: Manner, position: Int64)?
    /// The newest event that was told, and the newest whose line is written.
    var position: Int64
    var written: Int64
    /// Whether it has said something or lives for a while: one that fails at its start has taken nothing.
    var isProven = false
    /// Milliseconds: when something was taken last, or something began to wait.
    var movedAt: Int64
    /// Replies for which there is no room, and since when none was taken.
    private var blocked: (count: Int, since: Int64) = (0, 0)
    /// It wants to end.
    var isShutDown = false
    /// Lines that were no commands.
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

    /// Whether something waits for the program.
    func isBehind(_ taken: TakenEvents, last: Int64) -> Bool {
        switch self.manner {
        case .undecided: false
        case .written: self.written < last
        case .acknowledged: taken.oldestOpen(upTo: last) != nil
        }
    }

    /// What it has not done, and since when; nil if nothing waits for it.
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

    /// The event to tell now; nil if none may be told.
    func next(_ taken: TakenEvents, last: Int64, width: Int) -> Int64? {
        guard self.manner != .undecided else { return nil }
        if self.manner == .acknowledged, self.open(taken) >= width { return nil }
        var cursor = self.position + 1
        while cursor <= last, self.manner == .acknowledged, taken.contains(cursor) { cursor += 1 }
        return cursor <= last ? cursor : nil
    }

    /// How many were told and are not taken.
    private func open(_ taken: TakenEvents) -> Int {
        let beyond = taken.beyond.count { $0 <= self.position }
        return max(0, Int(clamping: self.position - taken.upTo) - beyond)
    }
}
