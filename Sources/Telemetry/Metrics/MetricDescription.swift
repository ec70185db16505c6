/// The description of a metric: only described metrics are exported.
package struct MetricDescription: Sendable, Hashable {
    package let name: String
    /// One sentence for humans.
    package let help: String
    package let kind: MetricFamily.Kind
    /// Names of its labels, in the order of the export; other labels are dropped.
    package let labels: [String]
    /// Upper bounds of a histogram, ascending, without infinity.
    package let bounds: [Double]

    private init(_ name: String, _ help: String, _ kind: MetricFamily.Kind, _ labels: [String], _ bounds: [Double]) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
        self.bounds = bounds
    }

    package static func counter(_ name: String, _ help: String, labels: [String] = []) -> MetricDescription {
        MetricDescription(name, help, .counter, labels, [])
    }

    package static func gauge(_ name: String, _ help: String, labels: [String] = []) -> MetricDescription {
        MetricDescription(name, help, .gauge, labels, [])
    }

    /// - Parameter bounds: ascending; in seconds for durations.
    package static func histogram(
        _ name: String, _ help: String, labels: [String] = [], bounds: [Double]
    ) -> MetricDescription {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy(<), "bounds of \(name) do not ascend")
        return MetricDescription(name, help, .histogram, labels, bounds)
    }
}
