/// The limits a supervisor keeps; defaults are those of a configuration file that says nothing.
public struct SupervisorConfiguration: Hashable, Sendable {
    /// Who is restarted together with a worker that failed; the words are OTP's.
    public enum Strategy: String, Hashable, Sendable, CaseIterable {
        case oneForOne = "one_for_one"
        case oneForAll = "one_for_all"
        /// The failed worker and those listed after it.
        case restForOne = "rest_for_one"
    }

    public var strategy: Strategy
    /// So many restarts inside `period` are tolerated; the next one quarantines. With `one_for_one` each worker has
    /// this many of its own, so that one account's trouble is never another's; with the other two, where a failure of
    /// one restarts others, they are counted together as OTP does.
    public var intensity: Int
    public var period: Duration
    /// Bounds of the wait before a restart; it doubles with each restart inside `period`.
    public var backoff: ClosedRange<Duration>
    /// From SIGTERM to SIGKILL.
    public var drainDeadline: Duration
    /// How long a running worker may leave the question for its health unanswered before it is killed and started
    /// again; nil: it is not asked.
    public var patience: Duration?
    /// The longest wait between two of these questions.
    public var longestPause: Duration
    /// Whether a supervisor that is left without workers waits until it is given some, and is ready meanwhile.
    public var waitsForWorkers: Bool

    public init(
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
            throw SupervisorError(.invalidConfiguration, "there is no worker to supervise")
        }
        var names: Set<String> = []
        for worker in workers where !names.insert(worker.name).inserted {
            throw SupervisorError(.invalidConfiguration, "two workers are named \(worker.name)")
        }
        guard intensity >= 0, period > .zero, backoff.lowerBound >= .zero, drainDeadline >= .zero,
            patience.map({ $0 > .zero }) ?? true, longestPause > .zero
        else {
            throw SupervisorError(
                .invalidConfiguration,
                "intensity, backoff and drain must not be negative, and period and patience must be positive")
        }
    }

    /// Between an answer and the next question.
    var pause: Duration? { patience.map { min(longestPause, $0 / 4) } }
}
