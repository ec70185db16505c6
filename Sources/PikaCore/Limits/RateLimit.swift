/// A maximum of `count` events per period: a burst of `count` at once, then one per `count`th part of the period.
public struct RateLimit: Hashable, Sendable {
    /// The maximum number of events per period; 0 or less admits none.
    public var count: Int
    /// The length of the period.
    public var per: Duration

    /// Creates a limit of `count` events per period.
    public init(_ count: Int, per: Duration) {
        self.count = count
        self.per = per
    }

    /// The period and its `count`th part in microseconds; each at least 1, whatever the limit's values.
    var microseconds: (period: Int64, interval: Int64) {
        let (seconds, attoseconds) = self.per.components
        let (whole, overflow) = max(0, seconds).multipliedReportingOverflow(by: 1_000_000)
        let period = max(1, overflow || whole > Self.longest ? Self.longest : whole + attoseconds / 1_000_000_000_000)
        return (period, max(1, period / Int64(max(1, self.count))))
    }

    /// A thousand years.
    private static let longest: Int64 = 31_536_000_000_000_000
}

/// A rate limiter with one allowance per key. Pure; its memory is bounded.
///
/// For each key it keeps one number, the time when the allowance is full again (the generic cell rate algorithm, ITU-T
/// I.371), which is equivalent to a token bucket. The least recently used keys are forgotten, and start with a full
/// allowance.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// Unix microseconds when the key's allowance is full again.
    private var fullAt: RecentEntries<Key, Int64>

    package init(capacity: Int = 4_096) {
        self.fullAt = RecentEntries(capacity: capacity)
    }

    /// Returns whether one more is within the limit; consumes nothing.
    package mutating func allows(_ key: Key, _ limit: RateLimit, nowMilliseconds: Int64) -> Bool {
        self.next(key, limit, nowMilliseconds) != nil
    }

    /// Consumes one unit if that is within the limit; returns whether it was.
    package mutating func consume(_ key: Key, _ limit: RateLimit, nowMilliseconds: Int64) -> Bool {
        guard let next = self.next(key, limit, nowMilliseconds) else { return false }
        self.fullAt[key] = next
        return true
    }

    private mutating func next(_ key: Key, _ limit: RateLimit, _ nowMilliseconds: Int64) -> Int64? {
        guard limit.count > 0 else { return nil }
        let (period, interval) = limit.microseconds
        let (product, overflow) = nowMilliseconds.multipliedReportingOverflow(by: 1000)
        let now = overflow ? 0 : product
        var fullAt = max(self.fullAt[key] ?? now, now)
        if fullAt > now + period {
            // The clock was set back.
            fullAt = now + period
            self.fullAt[key] = fullAt
        }
        let next = fullAt + interval
        return next - now <= period ? next : nil
    }
}
