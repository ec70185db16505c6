import Logging
import NIOCore
import NIOWebSocket
import NetworkAddresses
import Nostr
import PikaCore

/// Connection to one relay that reconnects as needed and performs the actions of its state machine.
///
/// All external inputs go through ``enqueue(_:)``, in order. Every task of a connection is a child of `run()`.
actor RelayConnection {
    enum Command: Sendable {
        case setStanding(Bool)
        /// Ends the wait for the next attempt.
        case retryNow
        case subscribe(RelaySubscription)
        case unsubscribe(String)
        case publish(Int, Event, deadline: Duration, report: @Sendable (PublishReport.Outcome) -> Void)
        case fetch(Int, [Filter], deadline: Duration, report: @Sendable (FetchOutcome) -> Void)
        case stop
    }

    /// What `run()` handles: commands, and the actions that need its task group; all other actions are performed at once.
    private enum Input: Sendable {
        case command(Command)
        case connect(session: Int)
        case schedule(StateMachine.Timer, after: Duration)
        case abort(WebSocketChannel, after: Duration)
        case logIn(challenge: String, session: Int)
        case askToRetire(handled: Int)
        case finish
    }

    let relay: RelayURL
    let environment: ConnectionEnvironment
    private let retire: @Sendable (RelayConnection, _ handled: Int) async -> Void
    private let inputs: AsyncStream<Input>
    private nonisolated let nextInput: AsyncStream<Input>.Continuation
    private var machine: StateMachine
    private var handled = 0
    private var publishers: [Int: @Sendable (PublishReport.Outcome) -> Void] = [:]
    private var fetchers: [Int: @Sendable (FetchOutcome) -> Void] = [:]
    /// Aborts the current connection attempt.
    private var abort: AsyncStream<Never>.Continuation?
    /// The current session's channel, until its close frame is sent.
    private var channel: WebSocketChannel?
    private var generator: SharedGenerator

    /// - Parameter retire: Asked whether the connection may end, with the number of commands it has handled.
    init(
        relay: RelayURL, environment: ConnectionEnvironment,
        retire: @escaping @Sendable (RelayConnection, _ handled: Int) async -> Void
    ) {
        self.relay = relay
        self.environment = environment
        self.retire = retire
        generator = environment.generator
        machine = StateMachine(
            relay: relay, configuration: environment.configuration, canLogIn: environment.signer != nil)
        (inputs, nextInput) = AsyncStream.makeStream()
    }

    nonisolated func enqueue(_ command: Command) {
        guard case .terminated = nextInput.yield(.command(command)) else { return }
        Self.refuse(command)
    }

    /// Runs until a `stop` command, or until cancellation, which closes the socket at once.
    func run() async {
        // Discarding, because other groups keep each ended task, such as a timer's, until it is asked for.
        await withDiscardingTaskGroup { group in
            for await input in inputs {
                switch input {
                case .command(let command):
                    handled += 1
                    handle(command, now: environment.clock.now)
                case .connect(let session): group.addTask { await self.hold(session: session) }
                case .schedule(let timer, let wait): group.addTask { await self.wait(for: timer, wait) }
                case .abort(let channel, let wait):
                    group.addTask { [clock = environment.clock] in
                        // Cancellation means that the session has ended, or is to end at once.
                        try? await clock.sleep(wait)
                        channel.abort()
                    }
                case .logIn(let challenge, let session):
                    group.addTask { await self.logIn(challenge, session: session) }
                case .askToRetire(let handled): await retire(self, handled)
                case .finish: nextInput.finish()
                }
            }
            group.cancelAll()
        }
        await abandon()
    }

    /// Stops the state machine, and fails all pending requests.
    func abandon() async {
        perform(machine.stop())
        nextInput.finish()
        for await case .command(let command) in inputs { Self.refuse(command) }
    }

    static func refuse(_ command: Command) {
        let reason = "the connection was shut down"
        switch command {
        case .publish(_, _, _, let report): report(.unreachable(reason))
        case .fetch(_, _, _, let report): report(.failed(reason))
        case .setStanding, .retryNow, .subscribe, .unsubscribe, .stop: break
        }
    }
}

// MARK: Inputs of the state machine

extension RelayConnection {
    // Not inlined, as `received`, `perform` and `elapse` below: their temporaries would stay in the frames of the tasks
    // that call them for as long as the connection lasts.
    @inline(never)
    private func handle(_ command: Command, now: Moment) {
        switch command {
        case .setStanding(let standing): perform(machine.setStanding(standing))
        case .retryNow: perform(machine.retryNow())
        case .subscribe(let request): perform(machine.subscribe(request, now: now))
        case .unsubscribe(let id): perform(machine.unsubscribe(id))
        case .publish(let number, let event, let deadline, let report):
            publishers[number] = report
            environment.verifier.trust(event)
            perform(machine.publish(number, event, deadline: deadline, now: now))
        case .fetch(let number, let filters, let deadline, let report):
            fetchers[number] = report
            perform(machine.fetch(number, filters, deadline: deadline, now: now))
        case .stop: perform(machine.stop())
        }
    }

    private func wait(for timer: StateMachine.Timer, _ duration: Duration) async {
        do {
            try await environment.clock.sleep(duration)
        } catch {
            return
        }
        await elapse(timer)
    }

    @inline(never)
    private func elapse(_ timer: StateMachine.Timer) async {
        for update in perform(machine.elapsed(timer, now: environment.clock.now)) { await deliver(update, bytes: 0) }
    }

    private func logIn(_ challenge: String, session: Int) async {
        let event = await environment.signer?(challenge, relay)
        perform(machine.signed(event, challenge: challenge, session: session))
    }

    func attemptMayBeAborted(_ abort: AsyncStream<Never>.Continuation) {
        self.abort = abort
        // A stop or a cancellation came first.
        if machine.phase != .connecting { abort.finish() }
    }

    /// Returns false if the session was abandoned while it was being set up.
    func sessionBegan(_ session: Int, _ channel: WebSocketChannel) -> Bool {
        abort = nil
        self.channel = channel
        perform(machine.connected(session: session, now: environment.clock.now))
        return machine.phase == .connected
    }

    func sessionEnded(_ session: Int, _ reason: Disconnection) {
        channel = nil
        abort = nil
        perform(machine.disconnected(session: session, reason, now: environment.clock.now, using: &generator))
    }

    /// - Returns: The updates for the consumer; the reader waits until there is room for them.
    @inline(never)
    func received(_ message: RelayMessage, bytes: Int, session: Int) -> [RelayUpdate] {
        if case .authentication = message { machine.isNamed = environment.addresses.names(relay) }
        return perform(machine.received(message, bytes: bytes, session: session, now: environment.clock.now))
    }

    func noteTraffic() { machine.noteTraffic(now: environment.clock.now) }
    func readingHeld() { machine.readingHeld() }
    func readingResumed() { machine.readingResumed(now: environment.clock.now) }
    func pong(_ data: ByteBuffer, session: Int) {
        noteTraffic()
        if session == machine.session { write(.pong, data) }
    }
}

// MARK: Actions of the state machine

extension RelayConnection {
    /// Performs all actions, and returns the updates for the consumer.
    @inline(never)
    @discardableResult
    private func perform(_ actions: [StateMachine.Action]) -> [RelayUpdate] {
        var updates: [RelayUpdate] = []
        for action in actions {
            switch action {
            case .connect(let session): nextInput.yield(.connect(session: session))
            case .disconnect(_, let handshake): disconnect(handshake: handshake)
            case .send(let message): write(.text, ByteBuffer(bytes: message.json()))
            case .ping: write(.ping, ByteBuffer())
            case .logIn(let challenge, let session): nextInput.yield(.logIn(challenge: challenge, session: session))
            case .schedule(let timer, let wait): nextInput.yield(.schedule(timer, after: wait))
            case .resolvePublish(let number, let outcome):
                environment.metrics.count(outcome)
                publishers.removeValue(forKey: number)?(outcome)
            case .resolveFetch(let number, let outcome): fetchers.removeValue(forKey: number)?(outcome)
            case .emit(.state(let relay, let state)):
                log(state)
                environment.observer?(.state(relay: relay, state))
                environment.updates.push(.state(relay: relay, state))
            case .emit(let update): updates.append(update)
            case .lost(let reason): environment.metrics.count(reason.reason)
            case .becameIdle: nextInput.yield(.askToRetire(handled: handled))
            case .finish: nextInput.yield(.finish)
            }
        }
        return updates
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        guard let channel else { return }
        // Room for everything that is sent again after a reconnect, and a margin.
        let limit = environment.configuration.unansweredEvents + 4_096
        guard !channel.enqueue(opcode, data, limit: limit) else { return }
        let reason = Disconnection(.stalled, "the relay stopped reading")
        perform(machine.drop(session: machine.session, reason))
    }

    private func disconnect(handshake: Bool) {
        abort?.finish()
        guard let channel else { return }
        guard handshake else { return channel.abort() }
        write(.connectionClose, ByteBuffer(closing: .normalClosure))
        self.channel = nil
        nextInput.yield(.abort(channel, after: environment.configuration.closeTimeout))
    }

    /// Sends the last frame of a session that the relay has ended. The peer may be gone already.
    func writeClose(_ code: WebSocketErrorCode) {
        write(.connectionClose, ByteBuffer(closing: code))
        channel = nil
    }

    private func log(_ state: RelayConnectionState) {
        var metadata: Logger.Metadata = ["relay": .string(relay.string)]
        if case .retrying(let attempt, let reason) = state {
            metadata["attempt"] = "\(attempt)"
            metadata["reason"] = .string(reason)
        }
        let (level, message) = state.logEntry
        environment.logger.log(level: level, message, metadata: metadata)
    }
}

extension RelayConnectionState {
    /// Number of consecutive failures that is reported as an outage, once.
    private static let failuresOfOutage = 3

    /// Level and text of the log entry about the change to this state.
    var logEntry: (level: Logger.Level, message: Logger.Message) {
        switch self {
        case .connected: (.info, "Relay connected")
        case .retrying(Self.failuresOfOutage, _):
            (.warning, "Relay unreachable, still trying; check that it is running and that its URL is correct")
        case .retrying: (.info, "Relay connection lost")
        case .connecting: (.debug, "Relay connecting")
        case .disconnected: (.debug, "Relay disconnected")
        }
    }
}
