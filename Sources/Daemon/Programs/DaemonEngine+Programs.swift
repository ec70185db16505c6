import Logging
import Metrics
import Nostr
import PikaCore

/// Feeds recorded events to a bot that runs as an external program, and tracks which of them it has consumed.
extension DaemonEngine {
    // MARK: One run of the program

    /// Registers a program; ``serve(_:)`` and ``finish(_:because:)`` must follow. One program at a time.
    public func begin(_ client: DaemonClient) {
        let (news, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        guard !self.isEnding, self.settings.program != nil else { return client.lines.close() }
        self.sessions[client.id] = DaemonSession(client)
        self.feed = Feed(client, self.taken, now: self.clock.nowMilliseconds, news: (news, wake))
    }

    /// Sends `ready`, then the events that the program has not consumed, then new ones. Returns when the client's lines
    /// are closed or the task is cancelled.
    public func serve(_ client: DaemonClient) async {
        guard let rules = self.settings.program, let feed = self.feed, feed.client === client else {
            return
        }
        let (news, wake) = feed.news
        await client.lines.put(DaemonEvent.ready(account: self.core.account).line())
        let end =
            self.clock.nowMilliseconds
            + (feed.taken.acknowledges == true ? rules.helloAgainPatience : rules.helloPatience)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await client.lines.waitUntilClosed()
                wake.finish()
            }
            group.addTask {
                try? await self.clock.sleep(untilMilliseconds: end)
                if !Task.isCancelled { await self.prove(client) }
            }
            wake.yield()
            for await _ in news { await self.tellOpen(client) }
            client.lines.close()
            group.cancelAll()
        }
    }

    /// Ends a run of the program.
    ///
    /// - Parameter failure: nil if the program ended as intended. Otherwise its oldest unconsumed event is blamed, and
    ///   becomes a dead letter after too many failures.
    public func finish(_ client: DaemonClient, because failure: ProgramFailure?) async -> ProgramReport {
        client.lines.close()
        self.sessions[client.id] = nil
        guard let feed = self.feed, feed.client === client else { return ProgramReport() }
        self.feed = nil
        var report = ProgramReport(isShutDown: feed.isShutDown)
        if let failure, !feed.isShutDown { report.blamed = await self.blame(feed, failure) }
        return report
    }

    private func blame(_ feed: Feed, _ failure: ProgramFailure) async -> (cursor: Int64, count: Int)? {
        // A program that fails at its start is not failing on an event, and a stalled one may have been sent none.
        guard feed.isProven else { return nil }
        let newest = failure == .stalled(.takesNothing) ? self.log.last : feed.position
        guard let rules = self.settings.program, let cursor = self.taken.oldestOpen(upTo: newest) else { return nil }
        let count = self.taken.noteFailure(of: cursor)
        if count >= rules.tries {
            self.countDeadLetter(.programFailed, cursor)
            await self.take(cursor)
        } else {
            await self.storeTaken()
        }
        return (cursor, count)
    }

    /// Sends the events that may be sent now.
    private func tellOpen(_ client: DaemonClient) async {
        guard let width = self.settings.program?.openEvents else { return }
        while let feed = self.feed, feed.client === client, !client.lines.isClosed,
            let cursor = feed.next(self.taken, last: self.log.last, width: width)
        {
            self.feed?.position = cursor
            let event = await self.recorded(cursor)
            guard let event, await !self.isWithdrawn(event) else {
                // The message is gone, or no longer visible to the program: there is nothing left to write or to
                // consume.
                if let now = self.feed, now.client === client, now.wish == feed.wish, now.manner == .written {
                    self.feed?.written = max(now.written, cursor)
                }
                await self.take(cursor)
                continue
            }
            guard self.feed?.wish == feed.wish else { continue }
            let isExtended = self.sessions[client.id]?.isExtended == true
            guard await client.lines.put(event.line(cursor: isExtended ? cursor : nil)) else { return }
            guard feed.manner == .written else { continue }
            guard await client.lines.flush() else { return }
            if self.feed?.wish == feed.wish { await self.noteWritten(cursor) }
        }
    }

    /// Returns whether the event belongs to a chat that is gone or that the program no longer works in.
    private func isWithdrawn(_ event: DaemonEvent) async -> Bool {
        guard let chatID = event.chatOfMembers else { return false }
        await self.refreshState()
        guard self.groupIfThere(chatID) == nil else { return false }
        DeadLetter.chatWithdrawn.count()
        self.logger.notice("an event was given up: its chat is not the program's any more")
        return true
    }

    private func noteWritten(_ cursor: Int64) async {
        guard var feed = self.feed else { return }
        feed.written = max(feed.written, cursor)
        feed.movedAt = self.clock.nowMilliseconds
        self.feed = feed
        if feed.isProven { await self.take(cursor) }
    }

    /// Marks the program as working, so that its written events count as consumed. Without a `hello` by now, it does
    /// not know the extension.
    private func prove(_ client: DaemonClient) async {
        guard let feed = self.feed, feed.client === client, !feed.isProven, feed.promised == nil else { return }
        self.feed?.isProven = true
        if feed.manner == .undecided {
            self.feed?.decide(.written, now: self.clock.nowMilliseconds)
            await self.noteManner(.written)
        }
        guard feed.manner == .written else { return }
        for cursor in self.taken.upTo..<max(self.taken.upTo, feed.written) { await self.take(cursor + 1) }
    }

    private func noteManner(_ manner: Feed.Manner) async {
        guard self.taken.acknowledges != (manner == .acknowledged) else { return }
        self.taken.acknowledges = manner == .acknowledged
        await self.storeTaken()
    }

    // MARK: Commands of the program

    /// Marks the program as working before it runs a command other than `hello`: it is not one that is slow to send
    /// its `hello`.
    func noteCommand(_ command: DaemonCommand, _ client: DaemonClient) async {
        if case .hello = command { return }
        if client.origin == .program { await self.prove(client) }
    }

    /// Remembers what `hello` has asked for, until its reply is queued.
    func promise(_ hello: DaemonCommand.Hello, _ client: DaemonClient) {
        guard client.origin == .program, let feed = self.feed, feed.client === client else { return }
        if hello.acknowledges {
            // Replays events written before the program asked to acknowledge them.
            let position = feed.manner == .acknowledged ? self.taken.upTo : feed.taken.upTo
            self.feed?.promised = (.acknowledged, position)
        } else {
            // Events up to the program's own cursor are consumed; those not known to be written are sent again.
            let position = hello.cursor.map { max($0, self.oldestCursor - 1) }
            self.feed?.promised = (.written, position ?? max(self.taken.upTo, feed.written))
        }
    }

    /// Applies the `hello` after its reply.
    func keepPromise(to client: DaemonClient) async {
        guard let feed = self.feed, feed.client === client, let promised = feed.promised else { return }
        if promised.manner == .acknowledged, feed.manner != .acknowledged, feed.taken.upTo < self.taken.upTo {
            self.taken = feed.taken
        }
        self.feed?.promised = nil
        self.feed?.isProven = true
        self.feed?.position = promised.position
        self.feed?.written = promised.position
        self.feed?.decide(promised.manner, now: self.clock.nowMilliseconds)
        if promised.manner == .written, self.taken.upTo < promised.position {
            self.taken.take(through: promised.position)
            self.admitWaiting()
            await self.storeTaken()
        }
        await self.noteManner(promised.manner)
    }

    func acknowledge(_ cursor: Int64, _ client: DaemonClient) async throws(DaemonFailure) -> Done {
        guard let feed = self.feed, feed.client === client, feed.manner == .acknowledged else {
            throw DaemonFailure(.badRequest, "ack is for programs that said hello with \"acks\":true")
        }
        guard cursor > 0, cursor <= feed.position else {
            throw DaemonFailure(.badCursor, "no event with the cursor \(cursor) was told since the program began")
        }
        await self.take(cursor)
        return Done()
    }

    /// Rejects commands that the program may not use.
    func passGate(_ request: DaemonRequest, _ client: DaemonClient) async throws(DaemonFailure) {
        guard client.origin == .program, let rules = self.settings.program else { return }
        switch request.command {
        // A program may always end itself.
        case .hello, .acknowledge, .shutdown: return
        default: try await rules.gate(request.command, request.name)
        }
    }

    // MARK: Consumed events

    private func take(_ cursor: Int64) async {
        guard !self.taken.contains(cursor) else { return }
        self.taken.take(cursor)
        self.feed?.movedAt = self.clock.nowMilliseconds
        self.feed?.news.wake.yield()
        self.admitWaiting()
        await self.storeTaken()
    }

    private func storeTaken() async { await self.store([(TakenEvents.key, self.taken.json)]) }

    /// Wakes the feed after new records. If the program was idle, its stall timer starts now.
    func noteRecorded(after before: Int64) {
        guard self.feed != nil else { return }
        if self.feed?.isBehind(self.taken, last: before) == false { self.feed?.movedAt = self.clock.nowMilliseconds }
        self.feed?.news.wake.yield()
    }

    /// Waits for the program to stall for this long, and returns how; nil when its run is over.
    public func waitForStall(of client: DaemonClient, milliseconds: Int64) async -> ProgramStall? {
        while !Task.isCancelled, let feed = self.feed, feed.client === client {
            let now = self.clock.nowMilliseconds
            let behind = feed.behind(self.taken, last: self.log.last)
            // checked: times of this process and a configured duration.
            let end = (behind?.since ?? now) + milliseconds
            if let behind, now >= end { return behind.stall }
            try? await self.clock.sleep(untilMilliseconds: end)
        }
        return nil
    }

    /// Sends a reply. Without room it waits, which holds up the program's next command, and the stall timer counts the
    /// time.
    func reply(_ line: String, to client: DaemonClient) async {
        guard client.lines.putNow(line) == nil else { return }
        if self.feed?.client === client { self.feed?.beginWaiting(now: self.clock.nowMilliseconds) }
        await client.lines.put(line)
        if self.feed?.client === client { self.feed?.endWaiting(now: self.clock.nowMilliseconds) }
    }

    /// Number of recorded events that the program has not consumed.
    public var waitingEvents: Int64 { self.taken.span(upTo: self.log.last) - Int64(self.taken.beyond.count) }

    // MARK: Backlog

    /// Slots reserved for records without an event of the core.
    private static let reserve: Int64 = 64

    private var hasRoom: Bool {
        self.taken.span(upTo: self.log.last) < max(1, self.settings.keptEvents - Self.reserve)
    }

    /// Waits until the program's backlog has room; returns false if it never will.
    func waitForRoom() async -> Bool {
        guard self.settings.program != nil else { return true }
        while !self.hasRoom {
            guard !self.isEnding, !self.isProgramOver else { return false }
            let answer = Answer<Bool>()
            self.waitingForRoom.append(answer)
            guard await answer.wait() == true else { return false }
        }
        return true
    }

    private func admitWaiting() {
        guard self.hasRoom else { return }
        for answer in self.waitingForRoom { answer.give(true) }
        self.waitingForRoom = []
    }

    /// Notes that no program will run any more: events are recorded only as long as there is room.
    public func endPrograms() {
        self.isProgramOver = true
        for answer in self.waitingForRoom { answer.give(false) }
        self.waitingForRoom = []
    }

    /// Counts an event that the program will not get, or not get again.
    func countDeadLetter(_ letter: DeadLetter, _ cursor: Int64?) {
        letter.count()
        self.logger.error(
            "an event was given up",
            metadata: ["reason": "\(letter.rawValue)", "cursor": "\(cursor.map { String($0) } ?? "none")"])
    }

    enum DeadLetter: String {
        /// The program failed on it, or did not consume it, too often.
        case programFailed = "program_failed"
        /// The backlog of a program that no longer runs is full.
        case programFull = "program_full"
        /// Its chat is gone, or the program no longer works in it.
        case chatWithdrawn = "chat_withdrawn"

        func count() {
            Counter(label: "bot_inbox_given_up_total", dimensions: [("reason", self.rawValue)]).increment()
        }
    }

    /// Counts lines of a program that are not commands; logs at each power of ten.
    func noteGarbage(_ failure: DaemonFailure) {
        self.feed?.garbage += 1
        guard let count = self.feed?.garbage, count.isPowerOfTen else { return }
        self.logger.warning(
            "the program wrote what is no command",
            metadata: ["reason": "\(failure.message)", "lines": "\(count)"])
    }
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
