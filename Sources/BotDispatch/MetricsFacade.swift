package import BotKit
import Metrics

/// Passes metrics of bots to the metrics of the process.
package struct MetricsFacade: BotMetrics {
    package init() {}

    package func set(_ sample: MetricSample) {
        Gauge(label: sample.name, dimensions: sample.dimensions).record(sample.value)
    }

    package func remove(_ sample: MetricSample) {
        Gauge(label: sample.name, dimensions: sample.dimensions).destroy()
    }

    package func observe(_ sample: MetricSample) {
        Recorder(label: sample.name, dimensions: sample.dimensions).record(sample.value)
    }

    package func add(_ sample: MetricSample) {
        FloatingPointCounter(label: sample.name, dimensions: sample.dimensions).increment(by: sample.value)
    }
}

extension MetricSample {
    fileprivate var dimensions: [(String, String)] { labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } }
}
