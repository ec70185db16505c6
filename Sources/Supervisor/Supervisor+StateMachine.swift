/// All workers of a supervisor as one value: inputs in, actions out. Worker numbers are places in the list given.
struct SupervisorStateMachine {
    enum Timer: Hashable, Sendable {
        /// The wait before a restart of this worker, in this life of it.
        case backoff(worker: Int, generation: Int)
        /// From SIGTERM to SIGKILL of one worker that is restarted with others.
        case stopDeadline(worker: Int, generation: Int)
        case drainDeadline
    }

    enum Signal: Hashable, Sendable {
        case terminate, kill
    }

    enum Outcome: Hashable, Sendable {
        /// Drained, or every worker ended as it was meant to.
        case done
        /// Nothing runs any more, and these are quarantined.
        case quarantined([String])
    }

    enum Action: Hashable, Sendable {
        case spawn(worker: Int)
        case signal(worker: Int, Signal)
        case schedule(Timer, after: Duration)
        case emit(SupervisorEvent)
        case finish(Outcome)
    }

    private let configuration: SupervisorConfiguration
    private(set) var workers: [Worker]
    private var isDraining = false
    private var isFinished = false
    /// Workers that start again together, and whether the wait before that is over.
    private var restartGroup: (leader: Int, members: Set<Int>, isDue: Bool)?

    init(workers: [WorkerSpecification], configuration: SupervisorConfiguration) {
        self.workers = workers.map { Worker($0) }
        self.configuration = configuration
    }
}

extension SupervisorStateMachine {
    mutating func start() -> [Action] {
        workers.indices.flatMap { spawn($0) }
    }

    mutating func spawned(_ worker: Int, pid: Int32) -> [Action] {
        let mustStop = workers[worker].spawned()
        return [.emit(.started(worker: name(worker), pid: pid))] + (mustStop ? terminate(worker) : [])
    }

    mutating func reported(_ worker: Int, _ status: WorkerLine.Status) -> [Action] {
        switch status {
        case .starting: []
        case .ready: workers[worker].becameReady() ? [.emit(.ready(worker: name(worker)))] : []
        case .draining: [.emit(.draining(worker: name(worker)))]
        }
    }

    /// - Parameter now: Time since the supervisor began.
    mutating func exited(
        _ worker: Int, _ exit: WorkerExit, now: Duration, using generator: inout some RandomNumberGenerator
    ) -> [Action] {
        var actions: [Action] = [.emit(.exited(worker: name(worker), exit))]
        switch workers[worker].exited() {
        case .stopped(.quarantine): actions.append(.emit(.quarantined(worker: name(worker))))
        case .stopped(.drain), .stopped(.restartTogether): break
        case .judge:
            let specification = workers[worker].specification
            let verdict =
                specification.isFinal(exit)
                ? .quarantine
                : RestartPolicy(configuration).verdict(
                    after: exit, of: specification.restart, history: &workers[worker].history, now: now,
                    using: &generator)
            workers[worker].apply(verdict)
            actions += follow(verdict, for: worker)
        }
        return actions + startGroupIfComplete() + finishIfOver()
    }

    mutating func elapsed(_ timer: Timer) -> [Action] {
        switch timer {
        case .backoff(let worker, let generation):
            guard workers[worker].generation == generation, workers[worker].state == .backingOff else { return [] }
            guard restartGroup?.leader == worker else { return restartGroup == nil ? spawn(worker) : [] }
            restartGroup?.isDue = true
            return startGroupIfComplete()
        case .stopDeadline(let worker, let generation):
            guard workers[worker].generation == generation, workers[worker].isAlive else { return [] }
            return [.signal(worker: worker, .kill)]
        case .drainDeadline:
            return workers.indices.filter { workers[$0].isAlive }.map { .signal(worker: $0, .kill) }
        }
    }

    /// Stops everything; idempotent.
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
}

extension SupervisorStateMachine {
    func index(of name: String) -> Int? { workers.firstIndex { $0.specification.name == name } }

    private func name(_ worker: Int) -> String { workers[worker].specification.name }

    private mutating func spawn(_ worker: Int) -> [Action] {
        workers[worker].start() ? [.spawn(worker: worker)] : []
    }

    /// While draining one deadline holds for all; otherwise each stop has its own.
    private func terminate(_ worker: Int) -> [Action] {
        let timer = Timer.stopDeadline(worker: worker, generation: workers[worker].generation)
        let deadline: [Action] = isDraining ? [] : [.schedule(timer, after: configuration.drainDeadline)]
        return [.signal(worker: worker, .terminate)] + deadline
    }

    private mutating func follow(_ verdict: RestartPolicy.Verdict, for worker: Int) -> [Action] {
        switch verdict {
        case .leave:
            return []
        case .quarantine:
            restartGroup = nil
            return [.emit(.quarantined(worker: name(worker)))] + stopCompanions(of: worker, .quarantine)
        case .restart(let after):
            let timer = Timer.backoff(worker: worker, generation: workers[worker].generation)
            let stops = stopCompanions(of: worker, .restartTogether)
            if configuration.strategy != .oneForOne {
                let members = companions(of: worker).filter { !workers[$0].isOver } + [worker]
                restartGroup = (worker, (restartGroup?.members ?? []).union(members), false)
            }
            return [.emit(.restarting(worker: name(worker), after: after))] + stops + [.schedule(timer, after: after)]
        }
    }

    /// Who shares the fate of a worker that failed.
    private func companions(of worker: Int) -> [Int] {
        switch configuration.strategy {
        case .oneForOne: []
        case .oneForAll: workers.indices.filter { $0 != worker }
        case .restForOne: Array(workers.indices.suffix(from: worker + 1))
        }
    }

    private mutating func stopCompanions(of worker: Int, _ reason: Worker.StopReason) -> [Action] {
        companions(of: worker).flatMap { companion -> [Action] in
            switch workers[companion].stop(reason) {
            case .none: []
            case .terminate: terminate(companion)
            case .stopped: reason == .quarantine ? [.emit(.quarantined(worker: name(companion)))] : []
            }
        }
    }

    private mutating func startGroupIfComplete() -> [Action] {
        guard let group = restartGroup, group.isDue, !group.members.contains(where: { workers[$0].isAlive }) else {
            return []
        }
        restartGroup = nil
        return group.members.sorted().flatMap { spawn($0) }
    }

    private mutating func finishIfOver() -> [Action] {
        guard !isFinished, workers.allSatisfy(\.isOver) else { return [] }
        isFinished = true
        let quarantined = workers.filter { $0.state == .quarantined }.map(\.specification.name)
        return [.finish(isDraining || quarantined.isEmpty ? .done : .quarantined(quarantined))]
    }
}
