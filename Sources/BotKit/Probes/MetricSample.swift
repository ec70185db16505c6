/// One value of a metric. Only metrics in the catalogue (`docs/metrics.md`) are exported.
public struct MetricSample: Sendable, Hashable, Codable {
    public var name: String
    public var labels: [String: String]
    public var value: Double

    public init(_ name: String, _ labels: [String: String] = [:], _ value: Double) {
        self.name = name
        self.labels = labels
        self.value = value
    }
}

/// Metrics of bots, exported with those of their worker.
public protocol BotMetrics: Sendable {
    /// Sets a gauge.
    func set(_ sample: MetricSample)
    /// Removes a gauge, whatever its value, so that it is not exported any more.
    func remove(_ sample: MetricSample)
    /// Adds one observation to a histogram.
    func observe(_ sample: MetricSample)
    /// Adds to a counter.
    func add(_ sample: MetricSample)
}

extension NoBotServices: BotMetrics {
    public func set(_ sample: MetricSample) {}
    public func remove(_ sample: MetricSample) {}
    public func observe(_ sample: MetricSample) {}
    public func add(_ sample: MetricSample) {}
}
