/// Limits of a supervisor; the defaults apply to an empty configuration file.
package struct SupervisorConfiguration: Hashable, Sendable {
    /// The choice of workers that are restarted together with a failed one; named as in OTP.
    package enum Strategy: String, Hashable, Sendable, CaseIterable {
        case oneForOne = "one_for_one"
        case oneForAll = "one_for_all"
        /// The failed worker and those listed after it.
        case restForOne = "rest_for_one"
    }

    package var strategy: Strategy
    /// Number of restarts tolerated within `period`; the next one quarantines. With `one_for_one` each worker has its
    /// own count, so that one account's failures never affect another's. With the other two strategies, where one
    /// failure restarts several workers, there is a common count as in OTP.
    package var intensity: Int
    package var period: Duration
    /// Bounds of the delay before a restart; the delay doubles with each restart inside `period`.
    package var backoff: ClosedRange<Duration>
    /// Time from SIGTERM to SIGKILL.
    package var drainDeadline: Duration
    /// Deadline for a running worker's answer to a health check, after which it is killed and restarted; nil disables
    /// health checks.
    package var patience: Duration?
    /// Maximum interval between two health checks.
    package var longestPause: Duration
    /// Whether a supervisor without workers keeps running until it gets some, and counts as ready meanwhile.
    package var waitsForWorkers: Bool

    package init(
        strategy: Strategy = .oneForOne, intensity: Int = 5, period: Duration = .seconds(60),
        backoff: ClosedRange<Duration> = .seconds(1) ... .seconds(30), drainDeadline: Duration = .seconds(10),
        patience: Duration? = nil, longestPause: Duration = .seconds(15),
        waitsForWorkers: Bool = false
    ) {
        self.strategy = strategy
        self.intensity = intensity
        self.period = period
        self.backoff = backoff
        self.drainDeadline = drainDeadline
        self.patience = patience
        self.longestPause = longestPause
        self.waitsForWorkers = waitsForWorkers
    }

    func validate(workers: [WorkerSpecification]) throws(SupervisorError) {
        guard !workers.isEmpty || waitsForWorkers else {
            throw SupervisorError(.invalidConfiguration, "no workers are configured")
        }
        var names: Set<String> = []
        for worker in workers where !names.insert(worker.name).inserted {
            throw SupervisorError(.invalidConfiguration, "duplicate worker name \(worker.name)")
        }
        guard intensity >= 0, period > .zero, backoff.lowerBound >= .zero, drainDeadline >= .zero,
            patience.map({ $0 > .zero }) ?? true, longestPause > .zero
        else {
            throw SupervisorError(
                .invalidConfiguration,
                "intensity, backoff and drain must not be negative, and period and patience must be positive")
        }
    }

    /// Interval between an answer and the next health check.
    var pause: Duration? { patience.map { min(longestPause, $0 / 4) } }
}
