import Foundation
package import Logging
import ServiceLifecycle
import SystemPackage
import Telemetry

/// Starts, monitors and restarts workers, and stops them at shutdown.
///
/// `run()` returns when a graceful shutdown has drained all workers, or when every worker has ended as intended. It
/// throws `noWorkersLeft` when no worker is left running because of quarantine. No child outlives `run()`; if the
/// supervisor is killed, its children read the end of their standard input.
package actor Supervisor<WorkerClock: Clock>: Service where WorkerClock.Duration == Duration {
    /// Steps that need the task group of `run()`; all other actions are performed at once.
    enum Step: Sendable {
        case spawn(worker: Int)
        case schedule(SupervisorStateMachine.Timer, after: Duration)
        case ask(worker: Int, generation: Int)
        case expire(ask: Int64, of: String, after: Duration)
        /// The asking task was cancelled.
        case abandon(ask: Int64)
        case beat(after: Duration)
        case drain
        case finish(SupervisorStateMachine.Outcome)
    }

    /// The most recent log lines of the workers.
    package nonisolated let log: WorkerLog
    let clock: WorkerClock
    let logger: Logger
    nonisolated let nextStep: AsyncStream<Step>.Continuation
    var machine: SupervisorStateMachine
    var controls: [Int: WorkerProcess.Control] = [:]
    var asks = PendingAsks()
    private let began: WorkerClock.Instant
    private let writeDiagnostics: @Sendable (String) -> Void
    private let observe: @Sendable (SupervisorEvent) -> Void
    private let steps: AsyncStream<Step>
    private var metrics = SupervisorMetrics()
    private var service: ServiceManager
    private var generator: any RandomNumberGenerator & Sendable
    private var hasRun = false

    /// - Parameters:
    ///   - notify: The service manager's socket; nil if absent.
    ///   - generator: Source of the restart jitter.
    ///   - writeDiagnostics: Receives each line of the workers' standard error, prefixed with the worker's name when
    ///     there are several.
    ///   - observe: Called for each event, in order; must not block.
    package init(
        workers: [WorkerSpecification], configuration: SupervisorConfiguration = SupervisorConfiguration(),
        clock: WorkerClock, generator: any RandomNumberGenerator & Sendable, log: WorkerLog = WorkerLog(),
        notify: NotifySocket? = nil, logger: Logger,
        writeDiagnostics: @escaping @Sendable (String) -> Void = writeToStandardError,
        observe: @escaping @Sendable (SupervisorEvent) -> Void = { _ in }
    ) throws(SupervisorError) {
        try configuration.validate(workers: workers)
        self.clock = clock
        self.generator = generator
        self.log = log
        self.logger = logger
        self.writeDiagnostics = writeDiagnostics
        self.observe = observe
        began = clock.now
        service = ServiceManager(socket: notify)
        machine = SupervisorStateMachine(workers: workers, configuration: service.adapted(configuration))
        (steps, nextStep) = AsyncStream.makeStream()
    }

    /// Supervises until shutdown; may be called once. Cancellation kills the workers at once.
    package func run() async throws {
        guard !hasRun else { throw SupervisorError(.alreadyRunning, "run() may be called only once") }
        hasRun = true
        // Writing to a worker that has ended must return an error instead of raising SIGPIPE.
        _ = signal(SIGPIPE, SIG_IGN)
        defer {
            controls = [:]
            asks.fail(SupervisorError(.notRunning, "the supervisor has ended"))
        }
        let nextStep = nextStep
        let outcome = await withGracefulShutdownHandler {
            await performSteps()
        } onGracefulShutdown: {
            nextStep.yield(.drain)
        }
        switch outcome {
        case .done: return
        case .quarantined(let names, let status):
            throw SupervisorError(
                .noWorkersLeft, "quarantined: \(names.joined(separator: ", "))", finalStatus: status)
        case nil: throw CancellationError()
        }
    }

    /// Starts the shutdown, as a graceful shutdown of the service group does; `run()` returns when it is complete.
    package nonisolated func drain() {
        nextStep.yield(.drain)
    }

    /// Time since the supervisor started.
    var now: Duration { began.duration(to: clock.now) }
}

/// Writes one whole line to standard error, with a worker's control characters escaped.
@Sendable
package func writeToStandardError(_ line: String) {
    // If standard error is closed, there is nowhere to report it.
    _ = try? FileDescriptor.standardError.writeAll(Array((line.terminalLine + "\n").utf8))
}

// MARK: Steps

extension Supervisor {
    /// Returns nil when the task was cancelled first.
    private func performSteps() async -> SupervisorStateMachine.Outcome? {
        // A discarding group, so that finished tasks do not accumulate.
        await withDiscardingTaskGroup { group in
            defer { group.cancelAll() }
            perform(machine.start())
            service.show(machine)
            if let beat = service.beat { nextStep.yield(.beat(after: beat)) }
            for await step in steps {
                switch step {
                case .spawn(let worker):
                    let specification = machine.workers[worker].specification
                    let process = WorkerProcess(specification)
                    // Sent before any question: it is the first line that the worker reads.
                    if let greeting = specification.greeting { _ = process.control.send(greeting) }
                    controls[worker] = process.control
                    group.addTask { await self.supervise(process, worker) }
                case .schedule(let timer, let duration):
                    group.addTask { await self.wait(for: timer, duration) }
                case .ask(let worker, let generation):
                    group.addTask { await self.askForHealth(worker, generation) }
                case .expire(let ask, let worker, let limit):
                    group.addTask { await self.expire(ask, of: worker, after: limit) }
                case .abandon(let ask): abandon(ask)
                case .beat(let duration): group.addTask { await self.beat(after: duration) }
                case .drain:
                    logger.info("Draining workers")
                    service.stopping()
                    perform(machine.drain())
                case .finish(let outcome): return outcome
                }
            }
            return nil
        }
    }

    func perform(_ actions: [SupervisorStateMachine.Action]) {
        for action in actions {
            switch action {
            case .spawn(let worker): nextStep.yield(.spawn(worker: worker))
            case .schedule(let timer, let duration): nextStep.yield(.schedule(timer, after: duration))
            case .ask(let worker, let generation): nextStep.yield(.ask(worker: worker, generation: generation))
            case .finish(let outcome): nextStep.yield(.finish(outcome))
            case .signal(let worker, .terminate): controls[worker]?.terminate()
            case .signal(let worker, .kill): controls[worker]?.kill()
            case .emit(let event): report(event)
            }
        }
        if !actions.isEmpty { service.show(machine) }
    }

    private func supervise(_ process: WorkerProcess, _ worker: Int) async {
        let name = machine.name(worker)
        let exit = await process.run(
            WorkerProcess.Callbacks(
                spawned: { await self.spawned(worker, pid: $0) },
                output: { lines in
                    guard await self.received(lines, from: worker) else { return }
                    // Events wait in the pipe for a moment, so that a busy worker's are read together.
                    try? await self.clock.sleep(for: .milliseconds(5))
                },
                diagnostics: { await self.diagnosed($0, by: name) }))
        controls[worker] = nil
        asks.fail(worker: worker, SupervisorError(.noAnswer, "\(name) ended before it answered"))
        perform(machine.exited(worker, exit, now: now, using: &generator))
    }

    private func spawned(_ worker: Int, pid: Int32) {
        perform(machine.spawned(worker, pid: pid, now: now))
    }

    /// Returns whether all lines are events.
    private func received(_ lines: [String], from worker: Int) -> Bool {
        var count = 0
        for line in lines {
            switch WorkerLine(line) {
            case .status(let status): perform(machine.reported(worker, status))
            case .answer(let answer): self.received(answer, from: worker)
            case .event:
                count += 1
                report(.workerEvent(worker: machine.name(worker), line: line))
            case .unrecognised:
                logger.warning(
                    "Ignored a line from a worker: expected a status, an answer or an event",
                    metadata: ["worker.name": "\(machine.name(worker))", "line.bytes": "\(line.utf8.count)"])
            }
        }
        return count == lines.count
    }

    private func diagnosed(_ lines: [String], by worker: String) {
        for line in lines {
            log.add(line, of: worker)
            writeDiagnostics(machine.order.count > 1 ? "\(worker): \(line)" : line)
        }
    }

    private func wait(for timer: SupervisorStateMachine.Timer, _ duration: Duration) async {
        guard (try? await clock.sleep(for: duration)) != nil else { return }
        perform(machine.elapsed(timer))
    }

    /// Only an answer proves that the worker is responsive. A refusal because of too many open questions does not: a
    /// hanging worker causes it too.
    private func askForHealth(_ worker: Int, _ generation: Int) async {
        guard case .success = await checkHealth(worker) else { return }
        service.heard(from: worker)
        perform(machine.answered(worker, generation: generation))
    }

    private func beat(after duration: Duration) async {
        guard (try? await clock.sleep(for: duration)) != nil else { return }
        service.beat(machine)
        nextStep.yield(.beat(after: duration))
    }

    private func report(_ event: SupervisorEvent) {
        metrics.record(event)
        event.log(to: logger, and: log)
        observe(event)
    }
}

// MARK: Operator commands

extension Supervisor {
    /// Status of all configured workers, in order.
    package var status: [WorkerStatus] { machine.status(now: now) }

    /// Restarts a worker: a running one is stopped first; a quarantined or stopped one starts again.
    package func restart(_ worker: String) throws(SupervisorError) {
        perform(machine.restart(try index(of: worker)))
    }

    /// Stops a worker until ``restart(_:)``.
    package func stop(_ worker: String) throws(SupervisorError) {
        perform(machine.halt(try index(of: worker)))
    }

    /// Replaces the list of workers and the limits. New workers start, removed ones stop, and changes to the others
    /// apply from their next start.
    package func reconfigure(
        _ workers: [WorkerSpecification], _ configuration: SupervisorConfiguration
    ) throws(SupervisorError) {
        try configuration.validate(workers: workers)
        perform(machine.reconfigure(workers, service.adapted(configuration)))
    }

    /// Records configuration changes that a worker applies only at its next start.
    package func note(_ changes: [String], needRestartOf worker: String) {
        guard let index = machine.index(of: worker), machine.workers[index].isAlive else { return }
        for change in changes where !machine.workers[index].record.needsRestart.contains(change) {
            machine.workers[index].record.needsRestart.append(change)
        }
    }

    /// Removes one of the changes recorded by ``note(_:needRestartOf:)``.
    package func withdraw(_ change: String, needRestartOf worker: String) {
        guard let index = machine.index(of: worker) else { return }
        machine.workers[index].record.needsRestart.removeAll { $0 == change }
    }

    /// Records that a reload of the configuration has begun.
    package func reloading() {
        service.reloading()
    }

    /// Records the end of a reload; false if the configuration was invalid, or if not every worker has applied it.
    package func reloaded(_ isSuccess: Bool) {
        metrics.recordReload(isSuccess)
        service.reloaded()
    }

    func index(of worker: String) throws(SupervisorError) -> Int {
        guard let index = machine.index(of: worker) else {
            let names = machine.order.map { machine.name($0) }.joined(separator: ", ")
            throw SupervisorError(.unknownWorker, "unknown account \(worker); known accounts: \(names)")
        }
        return index
    }
}
