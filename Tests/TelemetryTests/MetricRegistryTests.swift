import LiveTesting
import Metrics
import Telemetry
import Testing

@Suite(.bounded) struct MetricRegistryTests {
    private static let catalogue: [MetricDescription] = [
        .counter("things_total", "Things.", labels: ["kind"]),
        .gauge("depth", "Depth."),
        .histogram("time_seconds", "Time.", bounds: [0.1, 1]),
        .counter("seconds_total", "Seconds."),
    ]

    private func family(_ name: String, of registry: MetricRegistry) -> MetricFamily? {
        registry.families().first { $0.name == name }
    }

    private func value(_ name: String, of registry: MetricRegistry) -> Double? {
        family(name, of: registry)?.series.first?.value
    }

    @Test func counterCountsByLabelAndNeverDecreases() {
        let registry = MetricRegistry(Self.catalogue)
        let counter = Counter(label: "things_total", dimensions: [("kind", "b")], factory: registry)
        counter.increment(by: 2)
        counter.increment(by: -5)
        Counter(label: "things_total", dimensions: [("kind", "b")], factory: registry).increment()
        Counter(label: "things_total", dimensions: [("kind", "a")], factory: registry).increment()
        #expect(
            family("things_total", of: registry)?.series == [
                .init(labels: [.init("kind", "a")], value: 1), .init(labels: [.init("kind", "b")], value: 3),
            ])
    }

    @Test func gaugeShowsLastFiniteValue() {
        let registry = MetricRegistry(Self.catalogue)
        let gauge = Gauge(label: "depth", factory: registry)
        gauge.record(3)
        gauge.record(7.5)
        gauge.record(Double.infinity)
        gauge.record(Double.nan)
        #expect(value("depth", of: registry) == 7.5)
        gauge.destroy()
        #expect(family("depth", of: registry) == nil)
    }

    @Test func timerIsHistogramInSeconds() {
        let registry = MetricRegistry(Self.catalogue)
        let timer = Timer(label: "time_seconds", factory: registry)
        timer.recordMilliseconds(100)
        timer.recordMilliseconds(500)
        timer.recordSeconds(5)
        #expect(
            family("time_seconds", of: registry)
                == MetricFamily(
                    name: "time_seconds", help: "Time.", kind: .histogram, bounds: [0.1, 1],
                    series: [.init(value: 5.6, buckets: [1, 2, 3])]))
    }

    @Test func countsFractions() {
        let registry = MetricRegistry(Self.catalogue)
        let counter = FloatingPointCounter(label: "seconds_total", factory: registry)
        counter.increment(by: 0.25)
        counter.increment(by: 0.5)
        #expect(value("seconds_total", of: registry) == 0.75)
    }

    @Test func unknownMetricsAreOnlyCounted() {
        let registry = MetricRegistry(Self.catalogue)
        Counter(label: "other_total", factory: registry).increment()
        // As another kind than in the catalogue.
        Gauge(label: "things_total", factory: registry).record(1)
        Timer(label: "depth", factory: registry).recordSeconds(1)
        #expect(registry.families().map(\.name).filter { !$0.hasPrefix("telemetry_") } == [])
        #expect(value("telemetry_unknown_metrics_total", of: registry) == 3)
    }

    @Test func dropsUnknownLabels() {
        let registry = MetricRegistry(Self.catalogue)
        Counter(label: "things_total", dimensions: [("from", "x"), ("kind", "a")], factory: registry).increment()
        #expect(
            family("things_total", of: registry)?.series == [.init(labels: [.init("kind", "a")], value: 1)])
    }

    @Test func withholdsAndCountsKeysInLabels() {
        let registry = MetricRegistry(Self.catalogue)
        for key in ["00112233445566778899", "npub1abc"] {
            Counter(label: "things_total", dimensions: [("kind", key)], factory: registry).increment()
        }
        #expect(
            family("things_total", of: registry)?.series == [
                .init(labels: [.init("kind", "withheld")], value: 2)
            ])
        #expect(value("telemetry_withheld_labels_total", of: registry) == 2)
    }

    @Test func seriesAboveLimitShareOne() {
        let registry = MetricRegistry(Self.catalogue, seriesLimit: 3)
        for number in 0..<1000 {
            Counter(label: "things_total", dimensions: [("kind", "k\(number)")], factory: registry).increment()
        }
        let series = family("things_total", of: registry)?.series ?? []
        #expect(series.map { $0.labels[0].value } == ["k0", "k1", "k2", "other"])
        #expect(series.last?.value == 997)
        #expect(value("telemetry_overflowed_series_total", of: registry) == 997)
    }

    @Test func concurrentUpdatesLoseNothing() async {
        let registry = MetricRegistry(Self.catalogue)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for _ in 0..<1000 {
                        Counter(label: "things_total", dimensions: [("kind", "k\(task % 2)")], factory: registry)
                            .increment()
                    }
                }
            }
        }
        #expect(family("things_total", of: registry)?.series.map(\.value) == [4000, 4000])
    }

    @Test func catalogueFollowsNamingRules() {
        let all = MetricCatalogue.all + MetricCatalogue.own
        #expect(Set(all.map(\.name)).count == all.count)
        for metric in all {
            #expect((metric.kind == .counter) == metric.name.hasSuffix("_total"), "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
            #expect(!metric.labels.contains { ["account", "le", "quantile"].contains($0) }, "\(metric.name)")
        }
    }
}
