/// One value of a metric. Only metrics in the catalogue (`docs/metrics.md`) are exported.
public struct MetricSample: Sendable, Hashable, Codable {
    /// The name of the metric in the catalogue.
    public var name: String
    /// The labels' values by name.
    public var labels: [String: String]
    /// The value: of a gauge, an observation or an increment.
    public var value: Double

    /// Creates a sample.
    public init(_ name: String, _ labels: [String: String] = [:], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }
}

/// Metrics of bots, exported with those of their worker.
public protocol BotMetrics: Sendable {
    /// Sets a gauge to the sample's value.
    func set(_ sample: MetricSample)
    /// Stops exporting a gauge with this name and these labels; ignores the value.
    func remove(_ sample: MetricSample)
    /// Adds the sample's value to a histogram as one observation.
    func observe(_ sample: MetricSample)
    /// Increments a counter by the sample's value.
    func add(_ sample: MetricSample)
}

extension NoBotServices: BotMetrics {
    /// Does nothing.
    public func set(_ sample: MetricSample) {}
    /// Does nothing.
    public func remove(_ sample: MetricSample) {}
    /// Does nothing.
    public func observe(_ sample: MetricSample) {}
    /// Does nothing.
    public func add(_ sample: MetricSample) {}
}
