package import CoreMetrics
import Synchronization

/// All metrics of a process: the backend of swift-metrics, and the source of the export.
///
/// Only metrics of the catalogue are kept; other names are counted and dropped. Labels pass the ``LabelGuard``. A
/// metric has at most ``seriesLimit`` sets of labels, then one more for all others, whose label values are
/// ``overflow``: creating new labels cannot exhaust the memory.
package final class MetricRegistry: MetricsFactory {
    /// The label value of series above the limit.
    package static let overflow = "other"
    package static let seriesLimit = 256

    private let descriptions: [String: MetricDescription]
    private let order: [String]
    private let limit: Int
    private let series = Mutex<[String: [[String]: MetricSeries]]>([:])
    private let nowhere = NOOPMetricsHandler.instance
    private let unknown: MetricSeries
    private let withheld: MetricSeries
    private let overflowed: MetricSeries

    package init(_ catalogue: [MetricDescription] = MetricCatalogue.all, seriesLimit: Int = MetricRegistry.seriesLimit)
    {
        descriptions = Dictionary(catalogue.map { ($0.name, $0) }) { first, _ in first }
        order = catalogue.map(\.name)
        limit = seriesLimit
        unknown = MetricSeries(MetricCatalogue.unknownMetrics, labelValues: [])
        withheld = MetricSeries(MetricCatalogue.withheldLabels, labelValues: [])
        overflowed = MetricSeries(MetricCatalogue.overflowedSeries, labelValues: [])
    }

    /// Creates a registry and installs it for everything in this process; may be called once per process.
    package static func bootstrap() -> MetricRegistry {
        let registry = MetricRegistry()
        MetricsSystem.bootstrap(registry)
        return registry
    }

    /// Returns all current series, in the order of the catalogue and of the labels, followed by the registry's own.
    package func families() -> [MetricFamily] {
        let all = series.withLock { $0 }
        let written = order.compactMap { name -> MetricFamily? in
            guard let description = descriptions[name], let series = all[name], !series.isEmpty else { return nil }
            let sorted = series.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            return MetricFamily(description, series: sorted.map(\.value.series))
        }
        return written + [unknown, withheld, overflowed].map { MetricFamily($0.description, series: [$0.series]) }
    }

    /// Returns the series for these labels, creating it if needed; nil if the catalogue has no such metric of this
    /// kind.
    private func find(_ name: String, _ kinds: Set<MetricFamily.Kind>, _ labels: [(String, String)]) -> MetricSeries? {
        guard let description = descriptions[name], kinds.contains(description.kind) else {
            unknown.increment(by: Int64(1))
            return nil
        }
        let values = description.labels.map { label in labels.first { $0.0 == label }?.1 ?? "" }
        if let known = series.withLock({ $0[name]?[values] }) { return known }
        let clean = values.map { value in
            guard !LabelGuard.admits(value) else { return value }
            withheld.increment(by: Int64(1))
            return LabelGuard.withheld
        }
        return add(description, clean)
    }

    private func add(_ description: MetricDescription, _ values: [String]) -> MetricSeries {
        series.withLock { all in
            var family = all[description.name] ?? [:]
            if let known = family[values] { return known }
            var values = values
            if family.count >= limit {
                overflowed.increment(by: Int64(1))
                values = values.map { _ in Self.overflow }
                if let known = family[values] { return known }
            }
            let new = MetricSeries(description, labelValues: values)
            family[values] = new
            all[description.name] = family
            return new
        }
    }

    private func remove(_ handler: AnyObject) {
        guard let gone = handler as? MetricSeries else { return }
        series.withLock { all in
            // It may have been created again since.
            guard all[gone.description.name]?[gone.labelValues] === gone else { return }
            all[gone.description.name]?[gone.labelValues] = nil
        }
    }
}

// MARK: swift-metrics

extension MetricRegistry {
    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        find(label, [.counter], dimensions) ?? nowhere
    }

    package func makeFloatingPointCounter(
        label: String, dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        find(label, [.counter], dimensions) ?? nowhere
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        find(label, [.gauge], dimensions) ?? nowhere
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        find(label, aggregate ? [.histogram] : [.gauge], dimensions) ?? nowhere
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        find(label, [.histogram], dimensions) ?? nowhere
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }
}
