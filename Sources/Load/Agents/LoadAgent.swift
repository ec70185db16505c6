import Logging
import Nostr
import PikaCore
import RelayClient
import Synchronization

/// One account of a load test, with its own state and connections, like a worker's.
///
/// ``run()`` performs the work; ``start()`` starts the agent, and ``end()`` ends it at once as if the process were
/// killed.
final class LoadAgent: Sendable {
    /// Completion handler; called once, must return quickly.
    typealias Done = @Sendable (Result<ActionOutcome, any Error>) -> Void

    private struct State {
        var core: AppCore?
        /// Ends the current run.
        var ending: AsyncStream<Never>.Continuation?
        var pending: [RequestID: Done] = [:]
        var lastRequest = 0
    }

    let index: Int
    let key: KeyPair
    private let configuration: CoreConfiguration
    private let host: AgentHost
    /// Runs the agent's tasks and connections.
    private let executor: EventLoopExecutor
    private let listener: any AgentListener
    private let logger: Logger
    private let starts: AsyncStream<Void>
    private let nextStart: AsyncStream<Void>.Continuation
    private let state = Mutex(State())

    init(
        index: Int, key: KeyPair, configuration: CoreConfiguration, host: AgentHost, executor: EventLoopExecutor,
        listener: any AgentListener, logger: Logger
    ) {
        self.index = index
        self.key = key
        self.configuration = configuration
        self.host = host
        self.executor = executor
        self.listener = listener
        self.logger = logger
        (starts, nextStart) = AsyncStream.makeStream()
    }

    /// Starts the agent; does nothing if it is running.
    func start() { nextStart.yield() }

    /// Ends the current run; pending actions fail.
    func end() { state.withLock { $0.ending }?.finish() }

    /// Runs the agent after each start, until the task is cancelled.
    func run() async {
        for await _ in starts {
            do {
                try await withTaskExecutorPreference(executor) { try await self.runOnce() }
            } catch is CancellationError {} catch {
                listener.agent(index, .failed("\(error)"))
            }
            failPending()
        }
    }

    // MARK: Actions

    /// The agent's core; nil while the agent is not running.
    var core: AppCore? { state.withLock { $0.core } }

    /// Dispatches an action. Fails with the action's ``PikaCore/AppCoreError``, or with ``AgentNotRunning`` if the agent is
    /// not running or ends first.
    func dispatch(_ action: AppAction, _ done: @escaping Done) {
        let isStopped = state.withLock { state in
            guard let core = state.core else { return true }
            state.lastRequest += 1
            let request = RequestID(rawValue: "load/\(state.lastRequest)")
            state.pending[request] = done
            core.dispatch(action, request: request)
            return false
        }
        if isStopped { done(.failure(AgentNotRunning(isStored: false))) }
    }

    /// Dispatches an action and waits for its outcome; throws ``ActionTimeout`` after `limit`.
    func perform(_ action: AppAction, within limit: Duration) async throws -> ActionOutcome {
        let (results, report) = AsyncStream.makeStream(of: Result<ActionOutcome, any Error>.self)
        dispatch(action) {
            report.yield($0)
            report.finish()
        }
        return try await withThrowingTaskGroup(of: ActionOutcome.self) { group in
            group.addTask {
                for await result in results { return try result.get() }
                throw CancellationError()
            }
            group.addTask {
                try await Task.sleep(for: limit)
                throw ActionTimeout()
            }
            defer { group.cancelAll() }
            guard let outcome = try await group.next() else { throw CancellationError() }
            return outcome
        }
    }

    // MARK: One run

    private func runOnce() async throws {
        let opened = try await host.openStore(index, account: key.publicKey)
        defer { opened.close() }
        let report: @Sendable (AgentEvent) -> Void = { [listener, index] in listener.agent(index, $0) }
        let pool = try host.openPool(key, on: executor.eventLoop) { AgentEvent($0).map(report) }
        let transport = ObservedTransport(pool, report: report)
        var ports = CorePorts(transport: transport, store: opened.store, clock: SystemClock(), logger: logger)
        ports.eventReceiver = { AgentEvent($0).map(report) }
        let core = AppCore(account: key, configuration: configuration, ports: ports)
        let (updates, outcomes) = (core.updates(), core.outcomes())
        let (end, ending) = AsyncStream.makeStream(of: Never.self)
        state.withLock { ($0.core, $0.ending) = (core, ending) }
        defer { state.withLock { ($0.core, $0.ending) = (nil, nil) } }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pool.run() }
            group.addTask { try await core.run() }
            group.addTask {
                // Discarding, so that nothing of the start stays in memory.
                await withDiscardingTaskGroup { starting in
                    starting.addTask { await self.awaitStart(updates, opened) }
                    await self.reportOutcomes(outcomes)
                }
            }
            group.addTask { for await _ in end {} }
            // The first task to end stops the run.
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    /// Reports that the agent can be invited and that it has caught up; returns once both are true.
    private func awaitStart(_ updates: AsyncStream<AppUpdate>, _ store: AgentHost.OpenStore) async {
        var (isPublished, isRead) = (false, false)
        for await case .fullState(let state) in updates {
            if !isPublished, state.hasPublishedKeyPackage {
                isPublished = true
                listener.agent(index, .keyPackagePublished)
            }
            if !isRead, state.isRead {
                isRead = true
                listener.agent(index, .caughtUp)
            }
            if isPublished, isRead { return store.rest() }
        }
    }

    private func reportOutcomes(_ updates: AsyncStream<AppUpdate>) async {
        for await update in updates {
            switch update {
            case .fullState: break
            case .finished(_, let request, let outcome):
                let done = state.withLock { $0.pending.removeValue(forKey: request) }
                if case .failed(let error) = outcome { done?(.failure(error)) } else { done?(.success(outcome)) }
            case .delivery(_, _, let messageID, let delivery): listener.agent(index, .delivery(messageID, delivery))
            }
        }
    }

    private func failPending() {
        let pending = state.withLock { state in
            defer { state.pending = [:] }
            return Array(state.pending.values)
        }
        for done in pending { done(.failure(AgentNotRunning(isStored: true))) }
    }
}

/// The agent ended before the outcome was known, or was not running.
struct AgentNotRunning: Error, CustomStringConvertible {
    /// Whether the agent has stored the action, and so completes it in its next run.
    let isStored: Bool

    var description: String { "the agent was not running" }
}

/// An action exceeded its deadline; it may still complete.
struct ActionTimeout: Error, CustomStringConvertible {
    var description: String { "timed out" }
}

extension AppState {
    /// Whether there are relays, and each was read or is unreachable.
    fileprivate var isRead: Bool {
        !relays.isEmpty
            && relays.allSatisfy { relay in
                if case .retrying = relay.connection { return true }
                return relay.isCaughtUp
            }
    }
}
