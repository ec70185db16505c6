import Logging
import Nostr
import PikaCore

/// Feeds recorded events to a bot that runs as an external program; ``ProgramMachine`` has the rules.
extension DaemonEngine {
    // MARK: One run of the program

    /// Registers a program; ``serve(_:)`` and ``finish(_:because:)`` must follow. One program at a time.
    package func begin(_ client: DaemonClient) {
        guard !self.isEnding, self.machine.program.rules != nil else { return client.lines.close() }
        self.machine.clients.attach(client)
        self.machine.program.begin(client, now: self.clock.nowMilliseconds)
    }

    /// Sends `ready`, then the events that the program has not consumed, then new ones. Returns when the client's lines
    /// are closed or the task is cancelled.
    package func serve(_ client: DaemonClient) async {
        guard self.machine.program.isRunning(client), let delay = self.machine.program.confirmationDelay else { return }
        let (news, wake) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.programWake = wake
        await client.lines.put(DaemonEvent.ready(account: self.core.account).line())
        let end = self.clock.nowMilliseconds + delay
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await client.lines.waitUntilClosed()
                wake.finish()
            }
            group.addTask {
                try? await self.clock.sleep(untilMilliseconds: end)
                if !Task.isCancelled { await self.confirm(client) }
            }
            wake.yield()
            for await _ in news { await self.sendEvents(to: client) }
            client.lines.close()
            group.cancelAll()
        }
    }

    /// Ends a run of the program.
    ///
    /// - Parameter failure: nil if the program ended as intended. Otherwise its oldest unconsumed event is blamed, and
    ///   becomes a dead letter after too many failures.
    package func finish(_ client: DaemonClient, because failure: ProgramFailure?) async -> ProgramReport {
        client.lines.close()
        self.machine.clients.detach(client)
        if self.machine.program.isRunning(client) { self.programWake = nil }
        let (report, deadLetter, effects) = self.machine.program.finish(
            client, because: failure, last: self.machine.log.last)
        if let deadLetter { DeadLetter.programFailed.report(deadLetter, to: self.logger) }
        await self.perform(effects)
        return report
    }

    /// Waits for the program to stall for this long, and returns how; nil when its run is over.
    package func waitForStall(of client: DaemonClient, milliseconds: Int64) async -> ProgramStall? {
        while !Task.isCancelled {
            let check = self.machine.program.checkStall(
                of: client, milliseconds: milliseconds, last: self.machine.log.last, now: self.clock.nowMilliseconds)
            switch check {
            case nil: return nil
            case .stalled(let stall): return stall
            case .checkAgain(let time): try? await self.clock.sleep(untilMilliseconds: time)
            }
        }
        return nil
    }

    /// Number of recorded events that the program has not consumed.
    package var waitingEvents: Int64 { self.machine.program.waitingEvents(last: self.machine.log.last) }

    /// Notes that no program will run again: events are recorded only as long as there is room.
    package func endPrograms() {
        self.machine.program.end()
        self.admitWaiters(false)
    }

    // MARK: Events to the program

    /// Sends the events that may be sent now.
    private func sendEvents(to client: DaemonClient) async {
        while !client.lines.isClosed,
            let delivery = self.machine.program.sendNext(to: client, last: self.machine.log.last)
        {
            let event = await self.recorded(delivery.cursor)
            guard let event, await !self.isWithdrawn(event) else {
                await self.performNow { $0.skip(delivery, last: $1, now: $2) }
                continue
            }
            guard self.machine.program.isCurrent(delivery) else { continue }
            let isExtended = self.machine.clients.isExtended(client)
            guard await client.lines.put(event.line(cursor: isExtended ? delivery.cursor : nil)) else { return }
            guard delivery.isConsumedOnWrite else { continue }
            guard await client.lines.flush() else { return }
            await self.performNow { $0.written(delivery, last: $1, now: $2) }
        }
    }

    /// Returns whether the event belongs to a chat that is gone or that the program no longer works in.
    private func isWithdrawn(_ event: DaemonEvent) async -> Bool {
        guard let reference = event.chatOfMembers else { return false }
        await self.refreshState()
        guard self.machine.groupIfKnown(reference) == nil else { return false }
        DeadLetter.chatWithdrawn.count()
        self.logger.notice("dropped an event: its chat is no longer the program's")
        return true
    }

    private func confirm(_ client: DaemonClient) async {
        await self.performNow { $0.confirm(client, last: $1, now: $2) }
    }

    // MARK: Commands of the program

    /// Marks the program as working before it runs a command other than `hello`: a program that uses `hello` sends it
    /// first.
    func confirmProgram(by command: DaemonCommand, _ client: DaemonClient) async {
        if case .hello = command { return }
        if client.origin == .program { await self.confirm(client) }
    }

    /// Applies the program's `hello` after its reply.
    func applyHello(of client: DaemonClient) async {
        await self.performNow { $0.applyRequest(of: client, last: $1, now: $2) }
    }

    /// Rejects commands that the program may not use.
    func authorizeProgram(_ request: DaemonRequest, _ client: DaemonClient) async throws(DaemonFailure) {
        guard client.origin == .program, let rules = self.machine.program.rules else { return }
        try await rules.authorize(request)
    }

    /// Sends a reply. Without room it waits, which holds up the program's next command, and the stall timer counts the
    /// time.
    func reply(_ line: String, to client: DaemonClient) async {
        guard client.lines.putNow(line) == nil else { return }
        self.machine.program.beginWaiting(client, now: self.clock.nowMilliseconds)
        await client.lines.put(line)
        self.machine.program.endWaiting(client, now: self.clock.nowMilliseconds)
    }

    /// Counts lines of a program that are not commands; logs at each power of ten.
    func countInvalidLine(_ failure: DaemonFailure) {
        guard let count = self.machine.program.countInvalidLine() else { return }
        self.logger.warning(
            "the program wrote lines that are not commands",
            metadata: ["reason": "\(failure.message)", "lines": "\(count)"])
    }

    // MARK: Backlog

    /// Waits until the program's backlog has room; returns false if it never will.
    func waitForRoom() async -> Bool {
        guard self.machine.program.rules != nil else { return true }
        while !self.machine.program.hasRoom(last: self.machine.log.last) {
            guard !self.isEnding, !self.machine.program.isOver else { return false }
            let promise = Promise<Bool>()
            self.roomWaiters.append(promise)
            guard await promise.wait() == true else { return false }
        }
        return true
    }

    private func admitWaiters(_ hasRoom: Bool) {
        for promise in self.roomWaiters { promise.fulfill(hasRoom) }
        self.roomWaiters = []
    }

    // MARK: Effects

    /// Applies a transition at the current position of the log and time, and performs its effects.
    private func performNow(
        _ transition: (inout ProgramMachine, _ last: Int64, _ now: Int64) -> [ProgramMachine.Effect]
    ) async {
        let (last, now) = (self.machine.log.last, self.clock.nowMilliseconds)
        await self.perform(transition(&self.machine.program, last, now))
    }

    func perform(_ effects: [ProgramMachine.Effect]) async {
        for effect in effects {
            switch effect {
            case .wake: self.programWake?.yield()
            case .admit: self.admitWaiters(true)
            case .store(let consumed): await self.requests.store([(ConsumedEvents.key, consumed)])
            }
        }
    }
}
