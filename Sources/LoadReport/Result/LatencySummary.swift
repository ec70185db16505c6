/// Latency statistics; all times in seconds.
package struct LatencySummary: Codable, Equatable, Sendable {
    /// Number of measured samples; minimum, mean, maximum, sum and buckets refer to these.
    package var samples: Int
    package var min: Double
    package var mean: Double
    package var max: Double
    package var sum: Double
    /// Percentiles to three significant digits, corrected for coordinated omission of closed users.
    package var percentiles: [LoadPercentile: Double]
    /// Number of samples up to each of ``bounds``.
    package var buckets: [Int]

    /// Upper bounds of ``buckets`` in seconds. The unbounded bucket is omitted: its count is ``samples``.
    package static let bounds: [Double] = [
        0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
    ]

    package init(
        samples: Int, min: Double, mean: Double, max: Double, sum: Double, percentiles: [LoadPercentile: Double],
        buckets: [Int]
    ) {
        self.samples = samples
        self.min = min
        self.mean = mean
        self.max = max
        self.sum = sum
        self.percentiles = percentiles
        self.buckets = buckets
    }

    /// Returns nil without samples: the latency is unknown then, not zero.
    ///
    /// - Parameter closed: Latencies of closed users among these, by think time.
    init?(_ tally: LatencyTally, closed: [UInt64: LatencyTally] = [:]) {
        guard tally.samples > 0 else { return nil }
        let filled = tally.fillingIn(closed)
        let found = LoadPercentile.allCases.compactMap { percentile in
            filled.percentile(percentile.percent).map { (percentile, $0.loadSeconds) }
        }
        self.init(
            samples: Int(clamping: tally.samples), min: tally.minimum.loadSeconds,
            mean: (tally.sumNanoseconds / Double(tally.samples)).rounded() / 1e9, max: tally.maximum.loadSeconds,
            sum: tally.sumNanoseconds.rounded() / 1e9,
            percentiles: Dictionary(uniqueKeysWithValues: found),
            buckets: Self.bounds.map { Int(clamping: tally.count(upTo: UInt64($0 * 1e6))) })
    }
}
