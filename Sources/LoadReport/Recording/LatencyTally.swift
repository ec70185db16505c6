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

    /// With the values that closed users would have found had they not waited: who acts once in an interval and waited
    /// for `value` missed `value - interval`, `value - 2 * interval` and so on, as HdrHistogram fills them in. The
    /// interval is how long they think and their median latency. Extremes and sum stay those of what was measured.
    ///
    /// - Parameter closed: What of this closed users found, by how long they think, in nanoseconds.
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
            // At most so many values are filled in, lest a tiny interval hold up the report.
            let step = max(interval, missing / 10_000, 1)
            while missing >= 2 * step {
                missing -= step
                histogram.record(missing, count: entry.count)
            }
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
