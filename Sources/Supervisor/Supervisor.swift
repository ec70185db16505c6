import Foundation
public import Logging
public import ServiceLifecycle
import SystemPackage

/// Starts workers, watches them, restarts them, and stops them when it is told to shut down.
///
/// `run()` returns when a graceful shutdown has drained all workers, or when every worker ended as it was meant to;
/// it throws `noWorkersLeft` when nothing runs any more because of quarantine. No child outlives `run()`, and a
/// child of a supervisor that was killed sees the end of its standard input.
public actor Supervisor<WorkerClock: Clock>: Service where WorkerClock.Duration == Duration {
    /// What needs the task group of `run()`; everything else happens at once.
    enum Step: Sendable {
        case spawn(worker: Int)
        case schedule(SupervisorStateMachine.Timer, after: Duration)
        case expire(ask: Int64, of: String, after: Duration)
        case drain
        case finish(SupervisorStateMachine.Outcome)
    }

    private let workers: [WorkerSpecification]
    let clock: WorkerClock
    private let began: WorkerClock.Instant
    private let logger: Logger
    private let writeDiagnostics: @Sendable (String) -> Void
    private let observe: @Sendable (SupervisorEvent) -> Void
    private let steps: AsyncStream<Step>
    nonisolated let nextStep: AsyncStream<Step>.Continuation
    private var metrics = SupervisorMetrics()
    private var generator: any RandomNumberGenerator & Sendable
    var machine: SupervisorStateMachine
    var controls: [Int: WorkerProcess.Control] = [:]
    var asks = PendingAsks()
    private var hasRun = false

    /// - Parameters:
    ///   - generator: Draws the jitter of restarts.
    ///   - writeDiagnostics: Takes each line of the workers' standard error, with the worker's name in front when
    ///     there are several.
    ///   - observe: Called for each event, in order; must not block.
    public init(
        workers: [WorkerSpecification], configuration: SupervisorConfiguration = SupervisorConfiguration(),
        clock: WorkerClock, generator: any RandomNumberGenerator & Sendable, logger: Logger,
        writeDiagnostics: @escaping @Sendable (String) -> Void = writeToStandardError,
        observe: @escaping @Sendable (SupervisorEvent) -> Void = { _ in }
    ) throws(SupervisorError) {
        try configuration.validate(workers: workers)
        self.workers = workers
        self.clock = clock
        self.generator = generator
        self.logger = logger
        self.writeDiagnostics = writeDiagnostics
        self.observe = observe
        began = clock.now
        machine = SupervisorStateMachine(workers: workers, configuration: configuration)
        (steps, nextStep) = AsyncStream.makeStream()
    }

    /// Supervises until shutdown; may be called once. Cancellation kills the workers at once.
    public func run() async throws {
        guard !hasRun else { throw SupervisorError(.alreadyRunning, "a supervisor runs once") }
        hasRun = true
        // A worker that ended must show as an error of the write, not as a signal.
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
        case .quarantined(let names):
            throw SupervisorError(.noWorkersLeft, "quarantined: \(names.joined(separator: ", "))")
        case nil: throw CancellationError()
        }
    }

    /// Starts the shutdown that a graceful shutdown of the service group starts; `run()` returns when it is done.
    public nonisolated func drain() {
        nextStep.yield(.drain)
    }
}

/// Writes one line to standard error, whole.
@Sendable
public func writeToStandardError(_ line: String) {
    // A closed standard error leaves nobody to tell.
    _ = try? FileDescriptor.standardError.writeAll(Array((line + "\n").utf8))
}

extension Supervisor {
    /// Nil when the task was cancelled first.
    private func performSteps() async -> SupervisorStateMachine.Outcome? {
        await withTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            perform(machine.start())
            for await step in steps {
                switch step {
                case .spawn(let worker):
                    let process = WorkerProcess(workers[worker])
                    controls[worker] = process.control
                    group.addTask { await self.supervise(process, worker) }
                case .schedule(let timer, let duration):
                    group.addTask { await self.wait(for: timer, duration) }
                case .expire(let ask, let worker, let limit):
                    group.addTask { await self.expire(ask, of: worker, after: limit) }
                case .drain:
                    logger.info("Draining workers")
                    perform(machine.drain())
                case .finish(let outcome): return outcome
                }
            }
            return nil
        }
    }

    private func perform(_ actions: [SupervisorStateMachine.Action]) {
        for action in actions {
            switch action {
            case .spawn(let worker): nextStep.yield(.spawn(worker: worker))
            case .schedule(let timer, let duration): nextStep.yield(.schedule(timer, after: duration))
            case .finish(let outcome): nextStep.yield(.finish(outcome))
            case .signal(let worker, .terminate): controls[worker]?.terminate()
            case .signal(let worker, .kill): controls[worker]?.kill()
            case .emit(let event): report(event)
            }
        }
    }

    private func supervise(_ process: WorkerProcess, _ worker: Int) async {
        let prefix = workers.count > 1 ? "\(workers[worker].name): " : ""
        let exit = await process.run(
            WorkerProcess.Callbacks(
                spawned: { await self.spawned(worker, pid: $0) },
                output: { await self.received($0, from: worker) },
                diagnostics: { [writeDiagnostics] in writeDiagnostics(prefix + $0) }))
        controls[worker] = nil
        asks.fail(worker: worker, SupervisorError(.noAnswer, "\(workers[worker].name) ended before it answered"))
        perform(machine.exited(worker, exit, now: began.duration(to: clock.now), using: &generator))
    }

    private func spawned(_ worker: Int, pid: Int32) {
        perform(machine.spawned(worker, pid: pid))
    }

    private func received(_ line: String, from worker: Int) {
        switch WorkerLine(line) {
        case .status(let status): perform(machine.reported(worker, status))
        case .answer(let answer): self.received(answer, from: worker)
        case .event: report(.workerEvent(worker: workers[worker].name, line: line))
        case .unrecognised:
            logger.warning(
                "Worker wrote a line that is neither status, answer nor event",
                metadata: ["worker.name": "\(workers[worker].name)", "line.bytes": "\(line.utf8.count)"])
        }
    }

    private func wait(for timer: SupervisorStateMachine.Timer, _ duration: Duration) async {
        do {
            try await clock.sleep(for: duration)
        } catch {
            return
        }
        perform(machine.elapsed(timer))
    }

    private func report(_ event: SupervisorEvent) {
        metrics.record(event)
        log(event)
        observe(event)
    }

    private func log(_ event: SupervisorEvent) {
        switch event {
        case .started(let worker, let pid):
            logger.info("Worker started", metadata: ["worker.name": "\(worker)", "worker.pid": "\(pid)"])
        case .ready(let worker): logger.info("Worker ready", metadata: ["worker.name": "\(worker)"])
        case .draining(let worker): logger.debug("Worker draining", metadata: ["worker.name": "\(worker)"])
        case .exited(let worker, let exit):
            logger.info("Worker ended", metadata: ["worker.name": "\(worker)", "worker.exit": "\(exit)"])
        case .restarting(let worker, let wait):
            logger.info("Worker restarts", metadata: ["worker.name": "\(worker)", "restart.after": "\(wait)"])
        case .quarantined(let worker):
            logger.error(
                "Worker quarantined: it failed too often, or another start would not help",
                metadata: ["worker.name": "\(worker)"])
        case .workerEvent: break
        }
    }
}
