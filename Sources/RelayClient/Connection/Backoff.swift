/// How long to wait before the next attempt: doubling from `base` up to `cap`, with jitter.
///
/// The jitter takes up to half of each wait away, so that clients that lost a relay together do not come back
/// together, and still nobody comes back at once.
public struct Backoff: Hashable, Sendable {
    /// The wait before the second attempt, before jitter.
    public var base: Duration
    /// The longest wait, before jitter.
    public var cap: Duration

    public init(base: Duration = .seconds(1), cap: Duration = .seconds(120)) {
        self.base = base
        self.cap = cap
    }

    /// The wait after so many failures in a row.
    ///
    /// - Parameter failures: 1 for the first failure; less counts as 1.
    /// - Returns: Between half of `min(cap, base * 2^(failures - 1))` and all of it.
    public func delay(afterFailures failures: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        let longest = ceiling(afterFailures: failures)
        return longest * Double.random(in: 0.5...1, using: &generator)
    }

    private func ceiling(afterFailures failures: Int) -> Duration {
        var wait = min(base, cap)
        guard failures > 1, wait > .zero else { return wait }
        for _ in 1..<failures {
            // Compared with the half, so that doubling cannot overflow.
            if wait >= cap / 2 { return cap }
            wait *= 2
        }
        return wait
    }
}
