extension SupervisorStateMachine {
    /// Handles a worker's answer to a health check; answers of an earlier run are ignored.
    mutating func answered(_ worker: Int, generation: Int) -> [Action] {
        guard workers[worker].generation == generation, workers[worker].liveness.answered(),
            let pause = configuration.pause
        else { return [] }
        let next = Timer.question(worker: worker, generation: generation)
        return [.emit(.alive(worker: name(worker))), .schedule(next, after: pause)]
    }

    /// Starts a health check of a running worker, and its deadline.
    mutating func question(_ worker: Int) -> [Action] {
        guard workers[worker].isRunning, let patience = configuration.patience else { return [] }
        let generation = workers[worker].generation
        let number = workers[worker].liveness.ask()
        return [
            .ask(worker: worker, generation: generation),
            .schedule(
                .answerDeadline(worker: worker, generation: generation, question: number),
                after: patience / LivenessTracker.chances),
        ]
    }

    mutating func missedAnswer(_ worker: Int, _ number: Int) -> [Action] {
        switch workers[worker].liveness.elapsed(number) {
        case .answered: []
        case .askAgain: question(worker)
        case .lost: [.emit(.hung(worker: name(worker))), .signal(worker: worker, .kill)]
        }
    }
}

extension WorkerStateMachine {
    func restartReason(_ exit: WorkerExit) -> RestartReason {
        if liveness.isLost { return .hang }
        return switch exit {
        case .exited: .exit
        case .signaled: .signal
        case .failedToStart: .start
        }
    }

    /// The exit status of the last run, if restarting after it is useless.
    var finalStatus: Int32? {
        guard case .exited(let status)? = record.lastExit, specification.finalStatuses[status] != nil else {
            return nil
        }
        return status
    }

    func reasonForQuarantine(_ exit: WorkerExit, _ configuration: SupervisorConfiguration) -> String {
        let end = liveness.isLost ? "it did not answer and was killed" : exit.description
        let words = record.lastFailure
        if let reason = specification.finalReason(of: exit) { return words ?? reason }
        let limit = "more than \(configuration.intensity) restarts within \(configuration.period)"
        return "\(limit); last exit: \(words ?? end)"
    }
}
