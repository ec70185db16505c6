/// State machine of all workers of a supervisor: inputs return actions.
///
/// A worker's number is its index in `workers`, which only grows; `order` lists the configured ones in the order of the
/// configuration file.
struct SupervisorStateMachine {
    enum Timer: Hashable, Sendable {
        /// Delay before a restart of this run of the worker.
        case backoff(worker: Int, generation: Int)
        /// Deadline from SIGTERM to SIGKILL of one worker that is stopped alone.
        case stopDeadline(worker: Int, generation: Int)
        /// Time of the next health check.
        case question(worker: Int, generation: Int)
        /// Deadline of a health check.
        case answerDeadline(worker: Int, generation: Int, question: Int)
        case drainDeadline
    }

    /// Workers that restart together, and whether their delay is over.
    struct RestartGroup {
        let leader: Int
        var members: Set<Int>
        var isDue = false
    }

    enum Signal: Hashable, Sendable {
        case terminate, kill
    }

    enum Outcome: Hashable, Sendable {
        /// Drained, or every worker ended as intended.
        case done
        /// No worker runs, and these are quarantined; with the exit status if all of them ended with the same final
        /// one.
        case quarantined([String], status: Int32?)
    }

    enum Action: Hashable, Sendable {
        case spawn(worker: Int)
        case signal(worker: Int, Signal)
        case ask(worker: Int, generation: Int)
        case schedule(Timer, after: Duration)
        case emit(SupervisorEvent)
        case finish(Outcome)
    }

    var configuration: SupervisorConfiguration
    var workers: [WorkerStateMachine]
    var order: [Int]
    private(set) var isDraining = false
    private var isFinished = false
    /// The joint restart history of all workers, for the strategies that restart workers together.
    var sharedHistory = RestartPolicy.History()
    var restartGroup: RestartGroup?

    init(workers: [WorkerSpecification], configuration: SupervisorConfiguration) {
        self.workers = workers.map { WorkerStateMachine($0) }
        order = Array(workers.indices)
        self.configuration = configuration
    }

    func index(of name: String) -> Int? { order.first { workers[$0].specification.name == name } }
    func name(_ worker: Int) -> String { workers[worker].specification.name }
}

extension SupervisorStateMachine {
    mutating func start() -> [Action] {
        order.flatMap { spawn($0) }
    }

    mutating func spawned(_ worker: Int, pid: Int32, now: Duration = .zero) -> [Action] {
        let mustStop = workers[worker].spawned()
        workers[worker].record.pid = pid
        workers[worker].record.startedAt = now
        let event = Action.emit(.started(worker: name(worker), pid: pid))
        return [event] + (mustStop ? terminate(worker) : question(worker))
    }

    mutating func reported(_ worker: Int, _ status: WorkerLine.Status) -> [Action] {
        switch status {
        case .starting: return []
        case .ready:
            guard workers[worker].becameReady() else { return [] }
            sharedHistory.waits = 0
            return [.emit(.ready(worker: name(worker)))]
        case .draining: return [.emit(.draining(worker: name(worker)))]
        case .failed(let words):
            workers[worker].record.lastFailure = words
            return []
        }
    }

    /// - Parameter now: Time since the supervisor started.
    mutating func exited(
        _ worker: Int, _ exit: WorkerExit, now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        var actions: [Action] = [.emit(.exited(worker: name(worker), exit))]
        workers[worker].record.ended(exit)
        switch workers[worker].exited() {
        case .stopped(let reason): actions += settled(worker, reason)
        case .judge:
            let verdict = judge(worker, exit, now: now, using: &generator)
            workers[worker].apply(verdict)
            actions += follow(verdict, exit, for: worker)
        }
        return actions + startGroupIfComplete() + finishIfOver()
    }

    mutating func elapsed(_ timer: Timer) -> [Action] {
        switch timer {
        case .backoff(let worker, let generation):
            guard workers[worker].generation == generation, workers[worker].state == .backingOff else { return [] }
            guard restartGroup?.leader == worker else {
                return restartGroup?.members.contains(worker) == true ? [] : spawn(worker)
            }
            restartGroup?.isDue = true
            return startGroupIfComplete()
        case .stopDeadline(let worker, let generation):
            guard workers[worker].generation == generation, workers[worker].isAlive else { return [] }
            return [.signal(worker: worker, .kill)]
        case .question(let worker, let generation):
            guard workers[worker].generation == generation else { return [] }
            return question(worker)
        case .answerDeadline(let worker, let generation, let question):
            guard workers[worker].generation == generation, workers[worker].isRunning else { return [] }
            return missedAnswer(worker, question)
        case .drainDeadline:
            return workers.indices.filter { workers[$0].isAlive }.map { .signal(worker: $0, .kill) }
        }
    }

    /// Stops all workers; idempotent.
    mutating func drain() -> [Action] {
        guard !isDraining else { return [] }
        isDraining = true
        restartGroup = nil
        let signals: [Action] = workers.indices.filter { workers[$0].stop(.drain) == .terminate }
            .map { .signal(worker: $0, .terminate) }
        let deadline: [Action] =
            workers.contains(where: \.isAlive) ? [.schedule(.drainDeadline, after: configuration.drainDeadline)] : []
        return signals + deadline + finishIfOver()
    }

    mutating func spawn(_ worker: Int) -> [Action] {
        workers[worker].start() ? [.spawn(worker: worker)] : []
    }

    /// While draining, one deadline applies to all workers; otherwise each stop has its own.
    func terminate(_ worker: Int) -> [Action] {
        let timer = Timer.stopDeadline(worker: worker, generation: workers[worker].generation)
        let deadline: [Action] = isDraining ? [] : [.schedule(timer, after: configuration.drainDeadline)]
        return [.signal(worker: worker, .terminate)] + deadline
    }

    private var waitsForWorkers: Bool { configuration.waitsForWorkers && order.isEmpty }

    mutating func finishIfOver() -> [Action] {
        // A worker stopped by an operator can be restarted, as long as the supervisor keeps running.
        guard !isFinished, workers.allSatisfy(\.isOver),
            isDraining || !(workers.contains { $0.state == .stopped } || waitsForWorkers)
        else { return [] }
        isFinished = true
        let quarantined = order.map { workers[$0] }.filter { $0.state == .quarantined }
        guard !isDraining, !quarantined.isEmpty else { return [.finish(.done)] }
        let statuses = Set(quarantined.map { $0.finalStatus })
        return [
            .finish(
                .quarantined(
                    quarantined.map(\.specification.name), status: statuses.count == 1 ? statuses.first ?? nil : nil))
        ]
    }
}

// MARK: Failures

extension SupervisorStateMachine {
    private mutating func judge(
        _ worker: Int, _ exit: WorkerExit, now: Duration, using generator: inout some RandomNumberGenerator
    ) -> RestartPolicy.Verdict {
        let policy = RestartPolicy(configuration)
        let specification = workers[worker].specification
        guard configuration.strategy != .oneForOne else {
            return policy.verdict(
                after: exit, of: specification, history: &workers[worker].history, now: now, using: &generator)
        }
        return policy.verdict(after: exit, of: specification, history: &sharedHistory, now: now, using: &generator)
    }

    private mutating func follow(
        _ verdict: RestartPolicy.Verdict, _ exit: WorkerExit, for worker: Int
    ) -> [Action] {
        switch verdict {
        case .leave:
            return [.emit(.stopped(worker: name(worker)))]
        case .quarantine:
            restartGroup = nil
            return quarantine(worker, workers[worker].reasonForQuarantine(exit, configuration))
                + stopCompanions(of: worker, .quarantine)
        case .restart(let after):
            let timer = Timer.backoff(worker: worker, generation: workers[worker].generation)
            let reason = workers[worker].restartReason(exit)
            workers[worker].record.restarts += 1
            let stops = stopCompanions(of: worker, .restartTogether)
            if configuration.strategy != .oneForOne {
                let members = companions(of: worker).filter { !workers[$0].isOver } + [worker]
                restartGroup = RestartGroup(leader: worker, members: (restartGroup?.members ?? []).union(members))
            }
            return [.emit(.restarting(worker: name(worker), after: after, reason))] + stops
                + [.schedule(timer, after: after)]
        }
    }

    private mutating func quarantine(_ worker: Int, _ why: String) -> [Action] {
        workers[worker].record.quarantine = why
        return [.emit(.quarantined(worker: name(worker), why: why))]
    }

    /// Handles the end of a worker that was told to stop.
    private mutating func settled(_ worker: Int, _ reason: WorkerStateMachine.StopReason) -> [Action] {
        switch reason {
        case .drain: return []
        case .restartTogether:
            guard workers[worker].state == .held else { return [.emit(.stopped(worker: name(worker)))] }
            workers[worker].record.restarts += 1
            return [.emit(.restarting(worker: name(worker), after: .zero, .together))]
        case .quarantine: return quarantine(worker, "a worker of the same restart group was quarantined")
        case .restart:
            workers[worker].record.restarts += 1
            return [.emit(.restarting(worker: name(worker), after: .zero, .request))] + spawn(worker)
        case .halt, .remove: return [.emit(.stopped(worker: name(worker)))]
        }
    }

    /// Returns the workers that restart together with a failed one.
    private func companions(of worker: Int) -> [Int] {
        switch configuration.strategy {
        case .oneForOne: []
        case .oneForAll: order.filter { $0 != worker }
        case .restForOne: order.firstIndex(of: worker).map { Array(order.suffix(from: $0 + 1)) } ?? []
        }
    }

    private mutating func stopCompanions(of worker: Int, _ reason: WorkerStateMachine.StopReason) -> [Action] {
        companions(of: worker).flatMap { companion -> [Action] in
            switch workers[companion].stop(reason) {
            case .none: []
            case .terminate: terminate(companion)
            case .stopped:
                reason == .quarantine
                    ? quarantine(companion, "\(name(worker)) of the same restart group was quarantined") : []
            }
        }
    }

    mutating func startGroupIfComplete() -> [Action] {
        guard let group = restartGroup, group.isDue, !group.members.contains(where: { workers[$0].isAlive }) else {
            return []
        }
        restartGroup = nil
        return order.filter { group.members.contains($0) }.flatMap { spawn($0) }
    }
}
