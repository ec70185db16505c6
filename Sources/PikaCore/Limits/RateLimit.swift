/// So many things in so long a time: all of them at once, then one after each equal part of that time.
public struct RateLimit: Hashable, Sendable {
    public var count: Int
    public var per: Duration

    public init(_ count: Int, per: Duration) {
        self.count = count
        self.per = per
    }

    /// Microseconds; at least one of each, however odd the limit is.
    var microseconds: (period: Int64, interval: Int64) {
        let (seconds, attoseconds) = self.per.components
        let (whole, overflow) = max(0, seconds).multipliedReportingOverflow(by: 1_000_000)
        let period = max(1, overflow || whole > Self.longest ? Self.longest : whole + attoseconds / 1_000_000_000_000)
        return (period, max(1, period / Int64(max(1, self.count))))
    }

    /// A thousand years.
    private static let longest: Int64 = 31_536_000_000_000_000
}

/// Holds things of many origins to a limit, each origin for itself. Pure; its memory is bounded.
///
/// For each key it knows when its allowance is whole again (the generic cell rate algorithm, ITU-T I.371): one number
/// does what a bucket of tokens does. Keys that were not used for longest are forgotten, and start whole.
package struct RateLimiter<Key: Hashable & Sendable>: Sendable {
    /// Unix microseconds at which the key's allowance is whole.
    private var wholeAt: RecentEntries<Key, Int64>

    package init(capacity: Int = 4_096) {
        self.wholeAt = RecentEntries(capacity: capacity)
    }

    /// Whether one more is within the limit; takes nothing.
    package mutating func allows(_ key: Key, _ limit: RateLimit, nowMilliseconds: Int64) -> Bool {
        self.next(key, limit, nowMilliseconds) != nil
    }

    /// Takes one if that is within the limit.
    package mutating func take(_ key: Key, _ limit: RateLimit, nowMilliseconds: Int64) -> Bool {
        guard let next = self.next(key, limit, nowMilliseconds) else { return false }
        self.wholeAt[key] = next
        return true
    }

    private mutating func next(_ key: Key, _ limit: RateLimit, _ nowMilliseconds: Int64) -> Int64? {
        guard limit.count > 0 else { return nil }
        let (period, interval) = limit.microseconds
        let (product, overflow) = nowMilliseconds.multipliedReportingOverflow(by: 1000)
        let now = overflow ? 0 : product
        var wholeAt = max(self.wholeAt[key] ?? now, now)
        if wholeAt > now + period {
            // The clock was set back.
            wholeAt = now + period
            self.wholeAt[key] = wholeAt
        }
        let next = wholeAt + interval
        return next - now <= period ? next : nil
    }
}
