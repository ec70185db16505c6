public import Logging
import Metrics
import Nostr
public import PikaCore

/// Drives one account by the pikachat daemon protocol (wire §8.3): it reads commands as lines, and writes replies and
/// events as lines. It is independent of the transport, which may be a process's standard streams or a socket.
///
/// Commands of all clients run one at a time. Every event is recorded before it is sent. An event of the core is
/// handled once the standard client's line about it is written or, after that client is gone, once it is recorded.
public actor DaemonEngine {
    nonisolated let core: any DaemonCore
    nonisolated let clock: any CoreClock
    nonisolated let logger: Logger
    nonisolated let standard: DaemonClient
    private nonisolated let updates: AsyncStream<AppUpdate>
    private nonisolated let readiness = Answer<Bool>()
    private nonisolated let firstState = Answer<Bool>()
    nonisolated let ending = Answer<Bool>()
    /// Serialises commands.
    private nonisolated let commandTurn = Turnstile()
    /// Serialises events.
    nonisolated let eventTurn = Turnstile()
    /// Work that runs beside the commands.
    private nonisolated let backgroundWork: AsyncStream<@Sendable () async -> Void>
    nonisolated let background: AsyncStream<@Sendable () async -> Void>.Continuation
    private nonisolated let stateNews: AsyncStream<Void>
    private nonisolated let stateChanged: AsyncStream<Void>.Continuation

    var settings: DaemonSettings
    /// The current snapshot.
    var state = AppState()
    var sessions: [ObjectIdentifier: DaemonSession] = [:]
    var log = EventLog()
    var replies = ReplyLog()
    var requests = 0
    var outcomes: [RequestID: Answer<ActionOutcome>] = [:]
    var conditions: [Int: (isMet: @Sendable (AppState) -> Bool, answer: Answer<Bool>)] = [:]
    var deliveries = RecentDeliveries()
    /// Inbox id of the newest event of the core that was sent to clients.
    var toldInboxID: Int64 = 0
    var tellings: [Int: (inboxID: Int64, answer: Answer<Bool>)] = [:]
    /// Whether an invitation is being accepted. Joins in the meantime are announced after the reply.
    var isAccepting = false
    var heldJoins: [CoreEvent] = []
    /// Joins among them that the running command announces itself.
    var joinsToComplete: [CoreEvent] = []
    /// Chats that a command is changing: the command reports the change itself.
    var changing: Set<String> = []
    /// Chats that a command has left.
    var departed: Set<String> = []
    /// Invitations that were accepted automatically in this run.
    var autoAccepted: Set<EventID> = []
    var calls = DaemonCalls()
    private(set) var isEnding = false
    /// Whether the loss of standard output has been logged.
    var hasLostStandard = false
    /// The events that the program of this daemon has consumed, and the program's current run.
    var taken = TakenEvents()
    var feed: Feed?
    var isProgramOver = false
    var waitingForRoom: [Answer<Bool>] = []

    /// - Parameters:
    ///   - core: needs an inbox and an invitation policy that leaves the decision to this daemon; must not have run
    ///     yet.
    ///   - standard: the client that receives every event.
    public init(
        core: any DaemonCore, settings: DaemonSettings, standard: DaemonClient, clock: any CoreClock, logger: Logger
    ) {
        self.core = core
        self.settings = settings
        self.standard = standard
        self.clock = clock
        self.logger = logger
        self.updates = core.updates()
        (self.stateNews, self.stateChanged) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        (self.backgroundWork, self.background) = AsyncStream.makeStream()
        self.sessions[standard.id] = DaemonSession(standard)
        // A program has no standard client beside it: its events are handled once they are recorded.
        if settings.program != nil {
            standard.lines.close()
            self.hasLostStandard = true
        }
    }

    // MARK: Lifecycle

    /// Runs until `shutdown`, ``end()`` or cancellation. The core must run beside it.
    ///
    /// Throws ``DaemonError/Code/coreEnded``.
    public func run() async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask { await self.followUpdates() }
            group.addTask { try await self.work() }
            group.addTask { await self.ending.wait() ?? true }
            defer {
                // A writer that waits for a slow client must not delay the end.
                self.finish()
                group.cancelAll()
            }
            let isWanted = try await group.next() ?? true
            if !isWanted, !Task.isCancelled { throw DaemonError(.coreEnded, "the account's core has ended") }
        }
    }

    /// Ends ``run()``; commands in flight get no reply.
    public nonisolated func end() { self.ending.give(true) }

    /// Returns true once `ready` was sent; false if it never will be.
    public nonisolated func waitUntilReady() async -> Bool { await self.readiness.wait() ?? false }

    private func work() async throws -> Bool {
        await self.awaitRelay()
        await self.restoreLogs()
        // Wait for the first state: a program is only sent events of known chats.
        if self.settings.program != nil { _ = await self.firstState.wait() }
        await self.standard.lines.put(DaemonEvent.ready(account: self.core.account).line())
        self.readiness.give(true)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await event in self.core.events { await self.take(event) } }
            group.addTask { for await _ in self.stateNews { await self.tellNews() } }
            group.addTask {
                await withDiscardingTaskGroup { works in
                    for await work in self.backgroundWork { works.addTask { await work() } }
                    works.cancelAll()
                }
            }
        }
        return true
    }

    /// Waits for one of the configured relays. Without one the daemon starts anyway: it keeps connecting to its relays,
    /// and commands that need a relay report that none is connected.
    private func awaitRelay() async {
        let relays = self.settings.core.relays
        guard let patience = self.settings.relayPatience, !relays.isEmpty else { return }
        let isConnected = await self.wait(patience) { state in
            state.relays.contains { relays.contains($0.url) && $0.connection == .connected }
        }
        guard !isConnected, !self.isEnding, !Task.isCancelled else { return }
        for relay in relays {
            let status = self.state.relays.first { $0.url == relay }
            let reason = if case .retrying(_, let reason)? = status?.connection { reason } else { "no connection yet" }
            self.logger.error(
                "no relay answered; the daemon starts without one and keeps trying",
                metadata: [
                    "relay": .string(relay.string), "reason": .string(reason), "waited": "\(patience / 1000) s",
                ])
        }
    }

    /// Returns false when the core has ended.
    private func followUpdates() async -> Bool {
        for await update in self.updates {
            switch update {
            case .fullState(let whole):
                self.show(whole)
                self.firstState.give(true)
            case .finished(_, let request, let outcome): self.outcomes.removeValue(forKey: request)?.give(outcome)
            case .delivery(_, _, let messageID, let delivery): self.deliveries.note(delivery, of: messageID)
            case .accountCreated: break
            }
        }
        return false
    }

    private func show(_ whole: AppState) {
        // A newer state may have been fetched meanwhile.
        guard whole.rev >= self.state.rev else { return }
        let state = self.core.shown(whole)
        self.state = state
        for (id, condition) in self.conditions where condition.isMet(state) {
            self.conditions[id] = nil
            condition.answer.give(true)
        }
        self.stateChanged.yield()
    }

    /// Fetches the account's current state: the part of it that is visible may have changed without a new snapshot.
    func refreshState() async { self.show(await self.core.state) }

    private func finish() {
        self.isEnding = true
        self.readiness.give(nil)
        self.firstState.give(nil)
        self.ending.give(true)
        self.stateChanged.finish()
        self.background.finish()
        for answer in self.outcomes.values { answer.give(nil) }
        for condition in self.conditions.values { condition.answer.give(nil) }
        for telling in self.tellings.values { telling.answer.give(nil) }
        self.deliveries.end()
        self.endPrograms()
        for session in self.sessions.values { session.client.lines.close() }
    }

    // MARK: Clients

    /// Registers a socket connection.
    public func attach(_ client: DaemonClient) {
        guard !self.isEnding else { return client.lines.close() }
        self.sessions[client.id] = DaemonSession(client)
        Gauge(label: "daemon_clients").record(self.sessions.count - 1)
    }

    /// Unregisters a connection that has ended.
    public func detach(_ client: DaemonClient) {
        self.sessions[client.id] = nil
        client.lines.close()
        Gauge(label: "daemon_clients").record(self.sessions.count - 1)
    }

    /// Executes the command in a line, and returns when its reply is queued; the client's next line must wait until
    /// then. An unreadable line gets an error reply, except on standard input, where it is only logged.
    public func receive(_ piece: LineAssembler.Piece, from client: DaemonClient) async {
        let text: String
        switch piece {
        case .line(let line): text = line.trimmed
        case .tooLong: return await self.refuse(DaemonFailure(.parseError, "the line is too long"), client)
        }
        guard !text.isEmpty else { return }
        do {
            let request = try DaemonRequest(line: text)
            await self.commandTurn.run { await self.obey(request, of: client) }
            await self.replay(to: client)
            await self.keepPromise(to: client)
        } catch {
            await self.refuse(error, client, Self.requestID(of: text))
        }
    }

    /// Rejects a line. A program gets error replies for invalid commands only; other lines it may have printed by
    /// mistake.
    private func refuse(_ failure: DaemonFailure, _ client: DaemonClient, _ requestID: String?? = nil) async {
        Counter(label: "daemon_commands_total", dimensions: [("command", ""), ("result", "parse_error")]).increment()
        if client.origin == .program, requestID == nil { return self.noteGarbage(failure) }
        guard client.origin != .standard else {
            // Does not log the line, which may be confidential.
            return self.logger.warning("an unreadable command was ignored", metadata: ["reason": "\(failure.message)"])
        }
        await self.send(DaemonReply.error(requestID: requestID ?? nil, failure).line, to: client)
    }

    /// Returns the request id of a JSON object, which may be nil inside; nil for any other text.
    private static func requestID(of line: String) -> String?? {
        guard let object = try? JSONValue(json: line).object else { return nil }
        return .some(object["request_id"]?.string)
    }

    func obey(_ request: DaemonRequest, of client: DaemonClient) async {
        guard !self.isEnding, self.sessions[client.id] != nil else { return }
        // Ignore the commands of a program that was told to end or has asked to.
        if client.origin == .program, client.lines.isClosed { return }
        var result = "ok"
        do {
            await self.noteCommand(request.command, client)
            let done = try await self.performOnce(request, for: client)
            let isForStandard = done.repliesToStandard && self.repliesOnStandard(client)
            let target = isForStandard ? self.standard : client
            await self.tell(of: done, to: client) {
                guard let later = done.later else {
                    return await self.send(
                        DaemonReply.ok(requestID: request.requestID, result: done.result).line, to: target)
                }
                self.background.yield {
                    let reply: DaemonReply =
                        switch await later() {
                        case .success(let result): .ok(requestID: request.requestID, result: result)
                        case .failure(let failure): .error(requestID: request.requestID, failure)
                        }
                    await self.send(reply.line, to: target)
                }
            }
            if done.later == nil, let place = done.place { await self.keepReply(done.result, at: place) }
            await self.completeJoins()
        } catch {
            result = error.code.description
            await self.answer(error, to: request, of: client)
        }
        Counter(label: "daemon_commands_total", dimensions: [("command", request.name), ("result", result)]).increment()
        if request.command == .shutdown, result == "ok" {
            _ = await client.lines.flush()
            if client.origin == .program { self.letGo(of: client) } else { self.end() }
        }
    }

    /// Ends a program that has said `shutdown`, and not the daemon.
    private func letGo(of client: DaemonClient) {
        self.feed?.isShutDown = true
        client.lines.close()
    }

    private func repliesOnStandard(_ client: DaemonClient) -> Bool {
        client.origin != .program && self.sessions[client.id]?.isExtended != true
    }

    private func completeJoins() async {
        guard !self.joinsToComplete.isEmpty, await self.isTold(!self.isEnding) else { return }
        for join in self.joinsToComplete { self.core.complete(join.inboxID, effects: []) }
        self.joinsToComplete = []
    }

    /// Runs `body` after the commands before it.
    func inTurn(_ body: () async -> Void) async { await self.commandTurn.run(body) }

    /// Replies with an error. Some errors of some commands go to standard output, whichever client sent the command
    /// (wire §8.3), unless that client uses the extension.
    private func answer(_ failure: DaemonFailure, to request: DaemonRequest, of client: DaemonClient) async {
        var target = client
        switch request.command {
        case .react, .submitHypernoteAction:
            let isArgument = [.badEventID, .badEmoji, .badAction, .badGroupID].contains(failure.code)
            if isArgument, self.repliesOnStandard(client) { target = self.standard }
        case .sendTyping:
            if failure.code == .publishFailed, self.repliesOnStandard(client) { target = self.standard }
        default: break
        }
        await self.send(DaemonReply.error(requestID: request.requestID, failure).line, to: target)
    }

    func send(_ line: String, to client: DaemonClient) async {
        switch client.origin {
        case .standard: await client.lines.put(line)
        case .program: await self.reply(line, to: client)
        case .socket: self.offer(line, to: client)
        }
    }

    func offer(_ line: String, to client: DaemonClient) {
        let isOpen = !client.lines.isClosed
        let farewell = DaemonReply.error(
            requestID: nil, DaemonFailure(.slowClient, "dropped: what was sent before has not been read")
        ).line
        if !client.lines.offer(line, farewell: farewell), isOpen {
            Counter(label: "daemon_clients_dropped_total", dimensions: [("reason", "slow")]).increment()
            self.logger.warning("a client was dropped: it does not read what it is sent")
        }
    }
}
