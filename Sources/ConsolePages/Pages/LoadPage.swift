package import ConsoleReports

/// The last load reports and the results of scheduled probes.
package struct LoadPage: Sendable, Hashable {
    package struct Report: Sendable, Hashable {
        /// The file's name.
        package var file: String
        package var run: LoadRun?
        /// The reason why the file cannot be shown.
        package var failure: String?

        package init(file: String, run: LoadRun?, failure: String? = nil) {
            self.file = file
            self.run = run
            self.failure = failure
        }
    }

    package struct Probes: Sendable, Hashable {
        package var account: String
        package var samples: [ProbeSamples.Sample]

        package init(account: String, samples: [ProbeSamples.Sample]) {
            self.account = account
            self.samples = samples
        }
    }

    /// The folder of the reports; nil if the configuration names none.
    package var folder: String?
    package var reports: [Report]
    package var probes: [Probes]
    package var now: Int64

    package init(folder: String?, reports: [Report], probes: [Probes], now: Int64) {
        self.folder = folder
        self.reports = reports
        self.probes = probes
        self.now = now
    }

    package func page(for viewer: Viewer) -> Page {
        Page(
            title: "Load and probes", section: .load, path: .load,
            parts: [Page.Part("probes", probeTables), Page.Part("load", runs)])
    }

    // MARK: Probes

    private var probeTables: HTML {
        let tables = probes.filter { !$0.samples.isEmpty }.map(table)
        guard !tables.isEmpty else {
            return HTML.section(
                "Probes",
                #"<p class="empty">No probe has run: the bots relay-probe, keypackage-probe and group-canary schedule them.</p>"#
            )
        }
        return HTML.section("Probes", HTML(tables))
    }

    private func table(_ probes: Probes) -> HTML {
        let samples = probes.samples.sorted {
            ($0.labels["target"] ?? "", $0.name) < ($1.labels["target"] ?? "", $1.name)
        }
        let rows = samples.prefix(ReportLimits.samples).map { sample -> HTML in
            let labels = sample.labels.filter { $0.key != "target" }.sorted { $0.key < $1.key }
            return HTML.row(
                HTML.name(sample.labels["target"] ?? "–"),
                [
                    "<code>\(HTML.name(sample.name))</code>",
                    labels.isEmpty
                        ? HTML.none : HTML.name(labels.map { "\($0.key) \($0.value)" }.joined(separator: ", ")),
                    value(sample),
                ])
        }
        return HTML.table(
            "Probes of the account \(probes.account)", ["Target", "Result", "Part", "Value"], rows, empty: "")
    }

    private func value(_ sample: ProbeSamples.Sample) -> HTML {
        let isVerdict = ["_success", "_found", "_ok", "_inviteable", "_passed"].contains { sample.name.hasSuffix($0) }
        if isVerdict { return sample.value == 0 ? HTML.mark("bad", "failed") : HTML.mark("good", "passed") }
        if sample.name.hasSuffix("_seconds"), sample.name.contains("timestamp") || sample.name.contains("expiry") {
            return Self.time(sample.value, now: now)
        }
        if sample.name.hasSuffix("_expiry") { return Self.time(sample.value, now: now) }
        return HTML(text: HTML.short(sample.value) + (sample.name.hasSuffix("_seconds") ? " s" : ""))
    }

    private static func time(_ seconds: Double, now: Int64) -> HTML {
        guard seconds.isFinite, abs(seconds) < 1e15 else { return HTML.none }
        return HTML.time(Int64(seconds), now: now)
    }

    // MARK: Load reports

    private var runs: HTML {
        guard let folder else {
            return HTML.section(
                "Load reports",
                #"<p class="empty">The configuration names no folder of load reports (observe.console.reports).</p>"#)
        }
        guard !reports.isEmpty else {
            return HTML.section("Load reports", #"<p class="empty">No report is in \#(HTML.name(folder)).</p>"#)
        }
        return HTML.each(reports, section)
    }

    private func section(_ report: Report) -> HTML {
        guard let run = report.run else {
            return HTML.section(
                "Load report \(report.file)",
                #"<p class="note error">\#(HTML.sentence(report.failure ?? "unreadable"))</p>"#)
        }
        let correctness = run.correctness
        let facts = HTML.facts([
            "Run": HTML.name(run.run.name), "Started": HTML.name(run.run.startedAt),
            "Duration": HTML(text: "\(HTML.short(run.duration)) s"),
            "Thresholds": run.passed ? HTML.mark("good", "passed") : HTML.mark("bad", "failed"),
            "Delivered": HTML(
                text: "\(correctness.delivered) of \(correctness.expected), \(correctness.excused) excused"),
            "Diverged": HTML.number(correctness.diverged),
        ])
        let rows = run.operations.prefix(50).map { operation -> HTML in
            let latency = operation.latency
            return HTML.row(
                HTML.name(operation.name),
                [
                    HTML.number(operation.count), HTML.number(operation.failures),
                    HTML(text: HTML.short(operation.rate)), Self.milliseconds(latency?.percentiles["p50"]),
                    Self.milliseconds(latency?.percentiles["p95"]), Self.milliseconds(latency?.percentiles["p99"]),
                    Self.milliseconds(latency?.max),
                ])
        }
        let table = HTML.table(
            "Operations of \(report.file), times in ms",
            ["Operation", "Count", "Failures", "Per second", "p50", "p95", "p99", "Maximum"], rows,
            empty: "The run has no operations.")
        let failed = run.thresholds.filter { !$0.passed }.prefix(20).map { threshold in
            HTML.mark("bad", "\(threshold.key) \(threshold.condition)".limited(to: 80)) + ": found "
                + HTML.sentence(threshold.found)
        }
        return HTML.section(
            "Load report \(report.file)",
            facts + (failed.isEmpty ? HTML.empty : HTML.list(failed)) + table + charts(run))
    }

    private static func milliseconds(_ seconds: Double?) -> HTML {
        seconds.map { HTML(text: HTML.short($0 * 1_000)) } ?? HTML.none
    }

    private func charts(_ run: LoadRun) -> HTML {
        let shown = ["send", "deliver", "join"]
        let operations = run.series.operations.filter { shown.contains($0.name) }
        guard !operations.isEmpty else { return HTML.empty }
        let slot = Double(max(1, run.series.interval))
        let end = "\(HTML.short(run.duration)) s"
        let charts = [
            Chart(
                "Successes", unit: "per second",
                series: operations.map { .init($0.name, $0.count.prefix(600).map { Double($0) / slot }) }, from: "0 s",
                to: end),
            Chart(
                "Latency, p95", unit: "ms",
                series: operations.map { .init($0.name, $0.p95.prefix(600).map { $0.map { $0 * 1_000 } }) },
                from: "0 s",
                to: end),
        ]
        return #"<div class="grid">\#(HTML(charts.map(\.html)))</div>"#
    }
}
