/// Delay before the next connection attempt: doubles from `base` up to a cap, with jitter.
///
/// The jitter removes up to half of each delay, so that clients that lost a relay together do not reconnect together.
package struct Backoff: Hashable, Sendable {
    /// The wait before the second attempt, before jitter.
    package var base: Duration
    /// Maximum wait for a relay that has not worked recently, before jitter.
    package var cap: Duration
    /// Maximum wait for a relay that has worked within ``provenFor``, before jitter.
    package var provenCap: Duration
    /// The time for which a relay counts as proven after it last worked.
    package var provenFor: Duration

    package init(
        base: Duration = .seconds(1), cap: Duration = .seconds(120), provenCap: Duration = .seconds(30),
        provenFor: Duration = .seconds(3_600)
    ) {
        self.base = base
        self.cap = cap
        self.provenCap = provenCap
        self.provenFor = provenFor
    }

    /// Returns the wait after consecutive failures.
    ///
    /// - Parameters:
    ///   - failures: 1 for the first failure; less counts as 1.
    ///   - isProven: Whether the relay has worked recently.
    /// - Returns: Between half of `min(longest, base * 2^(failures - 1))` and all of it.
    package func delay(
        afterFailures failures: Int, isProven: Bool = false, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let longest = ceiling(afterFailures: failures, cap: isProven ? min(cap, provenCap) : cap)
        return longest * Double.random(in: 0.5...1, using: &generator)
    }

    private func ceiling(afterFailures failures: Int, cap: Duration) -> Duration {
        var wait = min(base, cap)
        guard failures > 1, wait > .zero else { return wait }
        for _ in 1..<failures {
            // Compares with half of the cap, so that doubling cannot overflow.
            if wait >= cap / 2 { return cap }
            wait *= 2
        }
        return wait
    }
}
