/// All series of one metric at one moment, in the terms of the Prometheus text format.
package struct MetricFamily: Sendable, Hashable, Codable {
    package enum Kind: String, Sendable, Hashable, Codable {
        case counter, gauge, histogram
    }

    package struct Label: Sendable, Hashable, Codable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The values of one set of labels.
    package struct Series: Sendable, Hashable, Codable {
        package var labels: [Label]
        /// The value; of a histogram, the sum of the observations.
        package var value: Double
        /// Of a histogram: the cumulative counts for each bound, in ascending order, then the total count.
        package var buckets: [UInt64]

        package init(labels: [Label] = [], value: Double, buckets: [UInt64] = []) {
            self.labels = labels
            self.value = value
            self.buckets = buckets
        }
    }

    package var name: String
    package var help: String
    package var kind: Kind
    /// Upper bounds of a histogram, ascending, without infinity.
    package var bounds: [Double]
    package var series: [Series]

    package init(name: String, help: String, kind: Kind, bounds: [Double] = [], series: [Series]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.bounds = bounds
        self.series = series
    }
}
