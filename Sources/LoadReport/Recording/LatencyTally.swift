import Histogram

/// Latencies of one operation: a histogram of microseconds with three significant digits, and exact extremes.
///
/// Uses about 16 kB when new and 120 kB once it has recorded a latency of ten seconds, however many values
/// it holds.
struct LatencyTally: Sendable {
    private(set) var histogram = Histogram<UInt64>(numberOfSignificantValueDigits: .three)
    private(set) var sumNanoseconds = 0.0
    private(set) var minimum = UInt64.max
    private(set) var maximum: UInt64 = 0

    var samples: UInt64 { histogram.totalCount }

    mutating func record(_ nanoseconds: UInt64) {
        histogram.record((nanoseconds + 500) / 1_000)
        sumNanoseconds += Double(nanoseconds)
        minimum = min(minimum, nanoseconds)
        maximum = max(maximum, nanoseconds)
    }

    /// Returns a tally corrected for coordinated omission in the closed model, as HdrHistogram does it: a user who acts
    /// once per interval and waited for `value` has missed `value - interval`, `value - 2 * interval` and so on. The
    /// interval is the think time plus the median latency. Extremes and sum stay the measured ones.
    ///
    /// - Parameter closed: The latencies of closed users among these, by think time in nanoseconds.
    func fillingIn(_ closed: [UInt64: LatencyTally]) -> LatencyTally {
        var filled = self
        for (think, found) in closed {
            guard let usual = found.percentile(50) else { continue }
            filled.fillIn(found.histogram, every: (think + usual) / 1_000)
        }
        return filled
    }

    private mutating func fillIn(_ found: Histogram<UInt64>, every interval: UInt64) {
        for entry in found.recordedValues() {
            var missing = found.medianEquivalentForValue(entry.value)
            // Bounds the number of added values, because a tiny interval would slow down the report.
            let step = max(interval, missing / 10_000, 1)
            while missing >= 2 * step {
                missing -= step
                histogram.record(missing, count: entry.count)
            }
        }
    }

    /// Returns the latency that `percent` of all samples did not exceed, in nanoseconds; nil when there are none.
    func percentile(_ percent: Double) -> UInt64? {
        guard samples > 0 else { return nil }
        let (nanoseconds, over) = histogram.valueAtPercentile(percent).multipliedReportingOverflow(by: 1_000)
        return over ? maximum : min(max(nanoseconds, minimum), maximum)
    }

    /// Returns the number of samples up to this latency, to the histogram's precision.
    func count(upTo microseconds: UInt64) -> UInt64 { histogram.count(within: 0...microseconds) }
}

extension Duration {
    /// Whole nanoseconds, clamped to 0 to 30 days: longer times are clock errors, and histograms need a bound.
    var loadNanoseconds: UInt64 {
        let limit: Int64 = 30 * 86_400
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < limit else { return UInt64(limit) * 1_000_000_000 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
