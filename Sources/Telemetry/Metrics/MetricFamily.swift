/// All series of one metric at one moment, in the terms of the Prometheus text format.
public struct MetricFamily: Sendable, Hashable, Codable {
    public enum Kind: String, Sendable, Hashable, Codable {
        case counter, gauge, histogram
    }

    public struct Label: Sendable, Hashable, Codable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The values of one set of labels.
    public struct Series: Sendable, Hashable, Codable {
        public var labels: [Label]
        /// The value; of a histogram, the sum of the observations.
        public var value: Double
        /// Of a histogram: the cumulative counts for each bound, in ascending order, then the total count.
        public var buckets: [UInt64]

        public init(labels: [Label] = [], value: Double, buckets: [UInt64] = []) {
            self.labels = labels
            self.value = value
            self.buckets = buckets
        }
    }

    public var name: String
    public var help: String
    public var kind: Kind
    /// Upper bounds of a histogram, ascending, without infinity.
    public var bounds: [Double]
    public var series: [Series]

    public init(name: String, help: String, kind: Kind, bounds: [Double] = [], series: [Series]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.bounds = bounds
        self.series = series
    }
}
