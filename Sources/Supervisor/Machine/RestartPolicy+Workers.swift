import ProcessSupport

extension RestartPolicy {
    init(_ configuration: SupervisorConfiguration) {
        self.init(
            intensity: configuration.intensity, period: configuration.period, backoff: configuration.backoff)
    }

    /// Decides on an exit at `now`, and notes a granted restart in `history`.
    func verdict(
        after exit: WorkerExit, of worker: WorkerSpecification, history: inout History, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        let kind = worker.restart
        if kind != .temporary {
            guard worker.finalReason(of: exit) == nil else { return .quarantine }
            if worker.waits(after: exit) { return wait(history: &history, using: &generator) }
        }
        return verdict(afterSuccess: exit.isSuccess, of: kind, history: &history, now: now, using: &generator)
    }
}
