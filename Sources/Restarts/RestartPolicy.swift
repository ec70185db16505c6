/// When something that ended is started again; the words are OTP's.
public enum RestartKind: String, Hashable, Sendable, CaseIterable {
    /// Always, also after a good end.
    case permanent
    /// Only after a failure: a non-zero status, a signal, or a failed start.
    case transient
    /// Never.
    case temporary
}

/// Decides, from how a process ended and how often it was restarted lately, what happens next.
public struct RestartPolicy: Hashable, Sendable {
    public enum Verdict: Hashable, Sendable {
        case restart(after: Duration)
        case quarantine
        /// It ended as it was meant to.
        case leave
    }

    /// When restarts were granted, as time since whoever grants them began; oldest first, none older than the period.
    public struct History: Hashable, Sendable {
        public internal(set) var restarts: [Duration] = []
        /// Restarts in a row that do not count, because something around the process must be mended first.
        public var waits = 0

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

    /// Judges one exit at `now` and notes a granted restart in `history`.
    public func verdict(
        afterSuccess isSuccess: Bool, of kind: RestartKind, history: inout History, now: Duration,
        using generator: inout some RandomNumberGenerator
    ) -> Verdict {
        switch kind {
        case .temporary: return .leave
        case .transient where isSuccess: return .leave
        case .transient, .permanent: break
        }
        history.restarts.removeAll { now - $0 >= period }
        guard history.restarts.count < intensity else { return .quarantine }
        let wait = delay(attempt: history.restarts.count, using: &generator)
        history.restarts.append(now)
        return .restart(after: wait)
    }

    /// Grants a restart that does not count, with a wait that grows as others' do.
    public func wait(history: inout History, using generator: inout some RandomNumberGenerator) -> Verdict {
        defer { history.waits += 1 }
        return .restart(after: delay(attempt: history.waits, using: &generator))
    }

    /// The wait before restart number `attempt` (from 0): drawn evenly from the upper half of a bound that doubles
    /// with each attempt, never outside `backoff`.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        // From 1 ms, since zero does not grow.
        var ceiling = min(max(backoff.lowerBound, .milliseconds(1)), backoff.upperBound)
        for _ in 0...attempt where ceiling < backoff.upperBound { ceiling = min(ceiling * 2, backoff.upperBound) }
        let floor = max(backoff.lowerBound, ceiling / 2)
        guard floor < ceiling else { return ceiling }
        return floor + (ceiling - floor) * Double.random(in: 0..<1, using: &generator)
    }
}
