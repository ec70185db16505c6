import Histogram

/// The latencies of one operation: a histogram of microseconds with three significant digits, and exact extremes.
///
/// About 16 kB when new and 120 kB when it has seen ten seconds, however many values it holds.
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

    /// Records a latency and the ones that were not seen because of it: somebody who acts every `interval` and waited
    /// for `nanoseconds` would have found `nanoseconds - interval`, `nanoseconds - 2 * interval` and so on.
    ///
    /// The same values as HdrHistogram's `recordCorrectedValue` fills in; here they count for the mean as well.
    mutating func record(_ nanoseconds: UInt64, every interval: UInt64) {
        record(nanoseconds)
        // At most so many values are filled in, lest a tiny interval stop the run.
        let step = max(interval, nanoseconds / 10_000, 1_000)
        var missing = nanoseconds
        while missing >= 2 * step {
            missing -= step
            record(missing)
        }
    }

    /// The latency that `percent` of all samples did not exceed, in nanoseconds; nil when there is none.
    func percentile(_ percent: Double) -> UInt64? {
        guard samples > 0 else { return nil }
        let (nanoseconds, over) = histogram.valueAtPercentile(percent).multipliedReportingOverflow(by: 1_000)
        return over ? maximum : min(max(nanoseconds, minimum), maximum)
    }

    /// How many samples were at most so many microseconds, to the histogram's precision.
    func count(upTo microseconds: UInt64) -> UInt64 { histogram.count(within: 0...microseconds) }
}

extension Duration {
    /// Whole nanoseconds, within 0 and 30 days: more is a mistake of a clock, and histograms need a bound.
    var loadNanoseconds: UInt64 {
        let limit: Int64 = 30 * 86_400
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < limit else { return UInt64(limit) * 1_000_000_000 }
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
