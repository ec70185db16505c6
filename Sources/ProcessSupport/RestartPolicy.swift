/// The rule by which a process that has ended is restarted; named as in OTP.
package enum RestartKind: String, Hashable, Sendable, CaseIterable {
    /// Always restarted, even after a successful exit.
    case permanent
    /// Restarted only after a failure: a non-zero status, a signal, or a failed start.
    case transient
    /// Never restarted.
    case temporary
}

/// Decides what follows an exit, from its kind and the number of recent restarts.
package struct RestartPolicy: Hashable, Sendable {
    package enum Verdict: Hashable, Sendable {
        case restart(after: Duration)
        case quarantine
        /// The process ended as intended and is not restarted.
        case leave
    }

    /// Times of granted restarts, measured from their owner's start; oldest first, none older than the period.
    package struct History: Hashable, Sendable {
        package internal(set) var restarts: [Duration] = []
        /// Consecutive restarts that do not count against the intensity, because their cause is external.
        package var waits = 0

        package init() {}
    }

    package var intensity: Int
    package var period: Duration
    package var backoff: ClosedRange<Duration>

    package init(intensity: Int, period: Duration, backoff: ClosedRange<Duration>) {
        self.intensity = intensity
        self.period = period
        self.backoff = backoff
    }

    /// Decides on an exit at `now`, and notes a granted restart in `history`.
    package func verdict(
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

    /// Grants a restart that does not count, with a delay that grows as for counted ones.
    package func wait(history: inout History, using generator: inout some RandomNumberGenerator) -> Verdict {
        defer { history.waits += 1 }
        return .restart(after: delay(attempt: history.waits, using: &generator))
    }

    /// Returns the delay before restart number `attempt` (from 0): uniformly random in the upper half of a bound that
    /// doubles with each attempt, and always within `backoff`.
    package func delay(attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        // At least 1 ms, since zero cannot double.
        var ceiling = min(max(backoff.lowerBound, .milliseconds(1)), backoff.upperBound)
        for _ in 0...attempt where ceiling < backoff.upperBound { ceiling = min(ceiling * 2, backoff.upperBound) }
        let floor = max(backoff.lowerBound, ceiling / 2)
        guard floor < ceiling else { return ceiling }
        return floor + (ceiling - floor) * Double.random(in: 0..<1, using: &generator)
    }
}
