import BotKit
import ProbeReports
import Synchronization

/// The exported metrics of each target, so that those missing in a newer report can be removed.
final class RelayMetricsExporter: Sendable {
    private let exported = Mutex<[String: Set<MetricSample>]>([:])

    /// - Parameter target: the target's metric label.
    func export(_ report: RelayProbeReport, of target: String, _ metrics: any BotMetrics) {
        let labels = ["target": target]
        let samples =
            [
                MetricSample("probe_success", labels, report.isGood ? 1 : 0),
                MetricSample("probe_duration_seconds", labels, report.duration / .seconds(1)),
            ] + report.samples(target: target)
        let series = Set(samples.map { MetricSample($0.name, $0.labels, 0) })
        let before = exported.withLock { $0.updateValue(series, forKey: target) } ?? []
        for gone in before.subtracting(series) { metrics.remove(gone) }
        for sample in samples { metrics.set(sample) }
    }
}
