/// Writes a result as metrics.
package enum MetricsSnapshot {
    /// Text formats of metrics.
    package enum Format: Sendable {
        /// OpenMetrics 1.0, with units and an end marker.
        case openMetrics
        /// Prometheus' text format 0.0.4.
        case prometheus
    }

    package static func text(_ result: LoadResult, _ format: Format) -> String {
        var page = MetricsPage(format: format)
        durations(result, &page)
        ratios(result, &page)
        totals(result, &page)
        page.family(
            "load_agents", "gauge", "Peak number of agents.",
            [Sample("load_agents", result.gauges[.agents]?.peak ?? 0)])
        info(result, &page)
        return page.text
    }

    /// Adds the seed and the environment as labels of a constant metric.
    private static func info(_ result: LoadResult, _ page: inout MetricsPage) {
        let (run, host) = (result.run, result.run.environment.host)
        let labels = [
            ("seed", String(run.seed)), ("software", run.environment.software), ("build", host.build),
            ("store", run.environment.store), ("relays", run.environment.relays.joined(separator: " ")),
            ("processor", host.processor), ("processors", String(host.processors)), ("kernel", host.kernel),
        ]
        let sample = [Sample("load_run_info", 1, labels.map { (name: $0.0, value: SafeText.lines($0.1)) })]
        // A gauge, because Prometheus' text format has no info type.
        page.family("load_run_info", "gauge", "Environment of the run.", sample)
    }

    private static func durations(_ result: LoadResult, _ page: inout MetricsPage) {
        let name = "load_op_duration_seconds"
        var samples: [Sample] = []
        for row in result.operations {
            guard let latency = row.latency else { continue }
            for (bound, count) in zip(LatencySummary.bounds, latency.buckets) {
                samples.append(Sample(name + "_bucket", Double(count), [("op", row.name), ("le", boundText(bound))]))
            }
            samples.append(Sample(name + "_bucket", Double(latency.samples), [("op", row.name), ("le", "+Inf")]))
            samples.append(Sample(name + "_sum", latency.sum, [("op", row.name)]))
            samples.append(Sample(name + "_count", Double(latency.samples), [("op", row.name)]))
        }
        page.family(
            name, "histogram", "Latency of an operation, from its intended start to its end.", samples, unit: "seconds")
    }

    private static func ratios(_ result: LoadResult, _ page: inout MetricsPage) {
        let ratios = [
            (
                "load_delivery_ratio", "Share of the expected deliveries that happened.",
                result.correctness.deliveryRatio
            ),
            (
                "load_order_ratio", "Share of the deliveries that arrived in their sender's order.",
                result.correctness.orderRatio
            ),
            ("load_join_success_ratio", "Share of the planned members that joined.", result.funnel.joinRatio),
        ]
        for (name, help, value) in ratios {
            page.family(name, "gauge", help, value.map { [Sample(name, $0)] } ?? [], unit: "ratio")
        }
    }

    private static func totals(_ result: LoadResult, _ page: inout MetricsPage) {
        let correctness = result.correctness
        page.counter("load_commit_conflicts", "Commits that lost a race.", correctness.conflicts)
        page.counter("load_divergence", "Members whose view differs from their group's.", correctness.diverged)
    }

    private static func boundText(_ bound: Double) -> String {
        bound == bound.rounded() ? "\(Int(bound)).0" : "\(bound)"
    }
}

/// One value of a metric.
struct Sample {
    let name: String
    let value: Double
    let labels: [(name: String, value: String)]

    init(_ name: String, _ value: Double, _ labels: [(name: String, value: String)] = []) {
        self.name = name
        self.value = value
        self.labels = labels
    }
}

/// Writer of metric families.
struct MetricsPage {
    let format: MetricsSnapshot.Format
    private var lines: [String] = []

    init(format: MetricsSnapshot.Format) { self.format = format }

    mutating func family(_ name: String, _ type: String, _ help: String, _ samples: [Sample], unit: String? = nil) {
        guard !samples.isEmpty else { return }
        lines.append("# HELP \(name) \(help)")
        lines.append("# TYPE \(name) \(type)")
        if let unit, format == .openMetrics { lines.append("# UNIT \(name) \(unit)") }
        lines += samples.map(line)
    }

    /// Adds a counter. Its sample ends in `_total`; in OpenMetrics the family's name does not.
    mutating func counter(_ name: String, _ help: String, _ value: Int) {
        let sample = [Sample(name + "_total", Double(value))]
        family(format == .openMetrics ? name : name + "_total", "counter", help, sample)
    }

    var text: String { (lines + (format == .openMetrics ? ["# EOF"] : [])).joined(separator: "\n") + "\n" }

    private func line(_ sample: Sample) -> String {
        let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",")
        let number =
            sample.value == sample.value.rounded() && abs(sample.value) < 1e15
            ? String(Int(sample.value)) : "\(sample.value)"
        return sample.name + (labels.isEmpty ? "" : "{\(labels)}") + " " + number
    }

    private func escaped(_ value: String) -> String {
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
