package import Logging
import Metrics
import Nostr
package import PikaCore
package import ProcessSupport

/// Drives one account by the pikachat daemon protocol (docs/daemon.md): it reads commands as lines, and writes replies
/// and events as lines. It is independent of the transport, which may be a process's standard streams or a socket.
///
/// Commands of all clients run one at a time. Every event is recorded before it is sent. An event of the core is
/// handled once the standard client's line about it is written or, after that client is gone, once it is recorded.
///
/// The engine does input and output; ``DaemonMachine`` has the state and the rules.
package actor DaemonEngine {
    nonisolated let core: any DaemonCore
    nonisolated let clock: any CoreClock
    nonisolated let logger: Logger
    nonisolated let standard: DaemonClient
    nonisolated let streams: DaemonStreams
    nonisolated let requests: CoreRequests
    nonisolated let files: AttachmentFiles
    nonisolated let lines: ClientLines
    private nonisolated let milestones = DaemonMilestones()
    /// Serialises commands.
    private nonisolated let commandLock = AsyncMutex()
    /// Serialises events.
    nonisolated let eventLock = AsyncMutex()

    var machine: DaemonMachine
    private(set) var isEnding = false
    /// Wakes the feed of the program's current run.
    var programWake: AsyncStream<Void>.Continuation?
    /// Events of the core that wait for room in the program's backlog.
    var roomWaiters: [Promise<Bool>] = []

    /// - Parameters:
    ///   - core: needs an inbox and an invitation policy that leaves the decision to this daemon; must not have run
    ///     yet.
    ///   - standard: the client that receives every event.
    package init(
        core: any DaemonCore, settings: DaemonSettings, standard: DaemonClient, clock: any CoreClock, logger: Logger
    ) {
        self.core = core
        self.standard = standard
        self.clock = clock
        self.logger = logger
        self.streams = DaemonStreams(updates: core.updates())
        self.requests = CoreRequests(core: core, clock: clock, scope: settings.scope)
        self.files = AttachmentFiles(
            core: core, clock: clock, logger: logger, directory: settings.mediaDirectory,
            patience: settings.downloadPatience)
        self.lines = ClientLines(standard: standard, logger: logger)
        self.machine = DaemonMachine(settings, account: core.account)
        self.machine.clients.attach(standard)
        if settings.program != nil { standard.lines.close() }
    }

    // MARK: Lifecycle

    /// Runs until `shutdown`, ``end()`` or cancellation. The core must run beside it.
    ///
    /// Throws `DaemonError.Code.coreEnded`.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { await self.followUpdates() }
            group.addTask { try await self.serveAccount() }
            group.addTask { await self.milestones.end.wait() ?? true }
            defer {
                // A writer that waits for a slow client must not delay the end.
                self.finish()
                group.cancelAll()
            }
            let isExpected = try await group.next() ?? true
            if !isExpected, !Task.isCancelled { throw DaemonError(.coreEnded, "the account's core has ended") }
        }
    }

    /// Ends ``run()``; commands in flight get no reply.
    package nonisolated func end() { self.milestones.end.fulfill(true) }

    /// Returns true once `ready` was sent; false if it never will be.
    package nonisolated func waitUntilReady() async -> Bool { await self.milestones.ready.wait() ?? false }

    private func serveAccount() async throws -> Bool {
        await self.waitForRelay()
        await self.restoreLogs()
        // Wait for the first state: a program is only sent events of known chats.
        if self.machine.settings.program != nil { _ = await self.milestones.firstState.wait() }
        await self.standard.lines.put(DaemonEvent.ready(account: self.core.account).line())
        self.milestones.ready.fulfill(true)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await event in self.core.events { await self.receive(event) } }
            group.addTask { for await _ in self.streams.stateChanges { await self.announceStateChanges() } }
            group.addTask {
                await withDiscardingTaskGroup { works in
                    for await work in self.streams.backgroundWork { works.addTask { await work() } }
                    works.cancelAll()
                }
            }
        }
        return true
    }

    /// Waits for one of the configured relays. Without one the daemon starts anyway: it keeps connecting to its relays,
    /// and commands that need a relay report that none is connected.
    private func waitForRelay() async {
        let relays = self.machine.settings.core.relays
        guard let patience = self.machine.settings.relayPatience, !relays.isEmpty else { return }
        let isConnected = await self.requests.wait(patience, from: self.machine.state) { state in
            state.relays.contains { relays.contains($0.url) && $0.connection == .connected }
        }
        guard !isConnected, !self.isEnding, !Task.isCancelled else { return }
        for (relay, reason) in self.machine.unconnectedRelays {
            self.logger.error(
                "no relay connected; the daemon starts without one and keeps trying",
                metadata: [
                    "relay": .string(relay.string), "reason": .string(reason), "waited": "\(patience / 1000) s",
                ])
        }
    }

    /// Returns false when the core has ended.
    private func followUpdates() async -> Bool {
        for await update in self.streams.updates {
            switch update {
            case .fullState(let state):
                self.receive(state)
                self.milestones.firstState.fulfill(true)
            case .finished, .delivery: self.requests.receive(update)
            }
        }
        return false
    }

    private func receive(_ state: AppState) {
        // A newer state may have been fetched meanwhile.
        guard state.rev >= self.machine.state.rev, self.machine.receive(self.core.shown(state)) else { return }
        self.requests.receive(self.machine.state)
        self.streams.stateChanged.yield()
    }

    /// Fetches the account's current state: the part of it that is visible may have changed without a new snapshot.
    func refreshState() async { self.receive(await self.core.state) }

    private func finish() {
        self.isEnding = true
        self.milestones.ready.fulfill(nil)
        self.milestones.firstState.fulfill(nil)
        self.milestones.end.fulfill(true)
        self.streams.finish()
        self.requests.end()
        self.endPrograms()
        for client in self.machine.clients.clients { client.lines.close() }
    }

    // MARK: Clients

    /// Registers a socket connection.
    package func attach(_ client: DaemonClient) {
        guard !self.isEnding else { return client.lines.close() }
        self.machine.clients.attach(client)
        Gauge(label: "daemon_clients").record(self.machine.clients.socketCount)
    }

    /// Unregisters a connection that has ended.
    package func detach(_ client: DaemonClient) {
        self.machine.clients.detach(client)
        client.lines.close()
        Gauge(label: "daemon_clients").record(self.machine.clients.socketCount)
    }

    /// Executes the command in a line, and returns when its reply is queued; the client's next line must wait until
    /// then. An unreadable line gets an error reply, except on standard input, where it is only logged.
    package func receive(_ piece: LineAssembler.Piece, from client: DaemonClient) async {
        let text: String
        switch piece {
        case .line(let line): text = String(decoding: line, as: UTF8.self).trimmed
        case .tooLong: return await self.refuse(DaemonFailure(.parseError, "the line is too long"), client)
        }
        guard !text.isEmpty else { return }
        do {
            let request = try DaemonRequest(line: text)
            await self.afterCommands { await self.execute(request, of: client) }
            await self.replay(to: client)
            await self.applyHello(of: client)
        } catch {
            await self.refuse(error, client, DaemonRequest.requestID(of: text))
        }
    }

    /// Rejects a line. A program gets error replies for invalid commands only; other lines it may have printed by
    /// mistake.
    private func refuse(_ failure: DaemonFailure, _ client: DaemonClient, _ requestID: String?? = nil) async {
        Counter(label: "daemon_commands_total", dimensions: [("command", ""), ("result", "parse_error")]).increment()
        if client.origin == .program, requestID == nil { return self.countInvalidLine(failure) }
        guard client.origin != .standard else {
            // Does not log the line, which may be confidential.
            return self.logger.warning("ignored an unreadable command", metadata: ["reason": "\(failure.message)"])
        }
        await self.send(DaemonReply.error(requestID: requestID ?? nil, failure).line, to: client)
    }

    /// Runs `body` after the commands before it.
    func afterCommands(_ body: () async -> Void) async { await self.commandLock.withLock(body) }

    // MARK: Lines

    func send(_ line: String, to client: DaemonClient) async {
        switch client.origin {
        case .standard: await client.lines.put(line)
        case .program: await self.reply(line, to: client)
        case .socket: self.lines.offer(line, to: client)
        }
    }
}
