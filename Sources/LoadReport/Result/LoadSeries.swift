/// Time series of the run: every list has one entry for each slot of `interval` seconds, from the start on.
package struct LoadSeries: Codable, Equatable, Sendable {
    /// One operation over time.
    package struct Operation: Codable, Equatable, Sendable {
        package var name: String
        /// Successes in each slot.
        package var count: [Int]
        package var failures: [Int]
        /// Latency percentiles in seconds; nil in slots without a success.
        package var p50: [Double?]
        package var p95: [Double?]
        package var p99: [Double?]
    }

    /// All operations together, from the start to the end of a slot.
    package struct Aggregate: Codable, Equatable, Sendable {
        package var count: Int
        package var failures: Int
        /// Latency in seconds; nil before the first success.
        package var min: Double?
        package var mean: Double?
        package var max: Double?
        package var percentiles: [LoadPercentile: Double]
    }

    /// Width of a slot in seconds.
    package var interval: Int
    package var operations: [Operation]
    /// The last value in each slot; nil if there was none.
    package var gauges: [LoadGauge: [Double?]]
    /// Deliveries expected and completed.
    package var expected: [Int]
    package var delivered: [Int]
    package var aggregate: [Aggregate]

    /// Number of slots.
    package var length: Int { aggregate.count }
}
