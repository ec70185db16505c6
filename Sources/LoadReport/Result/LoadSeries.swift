/// Time series of the run: every list has one entry for each slot of `interval` seconds, from the start on.
public struct LoadSeries: Codable, Equatable, Sendable {
    /// One operation over time.
    public struct Operation: Codable, Equatable, Sendable {
        public var name: String
        /// Successes in each slot.
        public var count: [Int]
        public var failures: [Int]
        /// Seconds; nil in slots without a success.
        public var p50: [Double?]
        public var p95: [Double?]
        public var p99: [Double?]
    }

    /// All operations together, cumulated up to the end of a slot.
    public struct Aggregate: Codable, Equatable, Sendable {
        public var count: Int
        public var failures: Int
        /// Seconds; nil before the first success.
        public var min: Double?
        public var mean: Double?
        public var max: Double?
        public var percentiles: [LoadPercentile: Double]
    }

    /// Width of a slot in seconds.
    public var interval: Int
    public var operations: [Operation]
    /// The last value in each slot; nil if there was none.
    public var gauges: [LoadGauge: [Double?]]
    /// Deliveries expected and completed.
    public var expected: [Int]
    public var delivered: [Int]
    public var aggregate: [Aggregate]

    /// Number of slots.
    public var length: Int { aggregate.count }
}
