import Restarts

extension RestartPolicy {
    init(_ configuration: SupervisorConfiguration) {
        self.init(
            intensity: configuration.intensity, period: configuration.period, backoff: configuration.backoff)
    }

    /// Judges one exit at `now` and notes a granted restart in `history`.
    func verdict(
        after exit: WorkerExit, of restart: WorkerSpecification.Restart, history: inout History, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        verdict(afterSuccess: exit.isSuccess, of: restart, history: &history, now: now, using: &generator)
    }
}
