/// Decides, from how a worker ended and how often it was restarted lately, what happens next.
public struct RestartPolicy: Hashable, Sendable {
    public enum Verdict: Hashable, Sendable {
        case restart(after: Duration)
        case quarantine
        /// It ended as it was meant to.
        case leave
    }

    /// When restarts were granted, as time since the supervisor began; oldest first, none older than the period.
    public struct History: Hashable, Sendable {
        public internal(set) var restarts: [Duration] = []

        public init() {}
    }

    public var intensity: Int
    public var period: Duration
    public var backoff: ClosedRange<Duration>

    public init(intensity: Int, period: Duration, backoff: ClosedRange<Duration>) {
        self.intensity = intensity
        self.period = period
        self.backoff = backoff
    }

    init(_ configuration: SupervisorConfiguration) {
        self.init(
            intensity: configuration.intensity, period: configuration.period, backoff: configuration.backoff)
    }

    /// Judges one exit at `now` and notes a granted restart in `history`.
    public func verdict(
        after exit: WorkerExit, of restart: WorkerSpecification.Restart, history: inout History, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        switch restart {
        case .temporary: return .leave
        case .transient where exit.isSuccess: return .leave
        case .transient, .permanent: break
        }
        history.restarts.removeAll { now - $0 >= period }
        guard history.restarts.count < intensity else { return .quarantine }
        let wait = delay(attempt: history.restarts.count, using: &generator)
        history.restarts.append(now)
        return .restart(after: wait)
    }

    /// The wait before restart number `attempt` (from 0): drawn evenly from the upper half of a bound that doubles
    /// with each attempt, never outside `backoff`.
    func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        // From 1 ms, since zero does not grow.
        var ceiling = min(max(backoff.lowerBound, .milliseconds(1)), backoff.upperBound)
        for _ in 0...attempt where ceiling < backoff.upperBound { ceiling = min(ceiling * 2, backoff.upperBound) }
        let floor = max(backoff.lowerBound, ceiling / 2)
        guard floor < ceiling else { return ceiling }
        return floor + (ceiling - floor) * Double.random(in: 0..<1, using: &generator)
    }
}
