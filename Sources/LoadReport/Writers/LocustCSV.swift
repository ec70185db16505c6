/// Writes a result as the four files of Locust's (2.x) `--csv`, with the same columns.
///
/// As there, a request is an attempt and times are milliseconds; here they have fractions, and percentiles cover
/// successes only. Locust's response sizes have no counterpart and are 0. A fifth file describes the environment.
package enum LocustCSV {
    static let percentiles: [(name: String, key: LoadPercentile?)] = [
        ("50%", .p50), ("66%", .p66), ("75%", .p75), ("80%", .p80), ("90%", .p90), ("95%", .p95), ("98%", .p98),
        ("99%", .p99), ("99.9%", .p99d9), ("99.99%", .p99d99), ("100%", nil),
    ]

    package static func files(_ result: LoadResult, base: String) -> [ReportFile] {
        [
            ReportFile(name: base + "_stats.csv", contents: stats(result)),
            ReportFile(name: base + "_failures.csv", contents: failures(result)),
            ReportFile(name: base + "_stats_history.csv", contents: history(result)),
            ReportFile(name: base + "_exceptions.csv", contents: exceptions(result)),
            ReportFile(name: base + "_environment.csv", contents: environment(result)),
        ]
    }

    // MARK: Rows

    static func stats(_ result: LoadResult) -> String {
        let header =
            [
                "Type", "Name", "Request Count", "Failure Count", "Median Response Time", "Average Response Time",
                "Min Response Time", "Max Response Time", "Average Content Size", "Requests/s", "Failures/s",
            ] + percentiles.map(\.name)
        let rows = result.operations.map { row in
            statsRow(
                type: row.family, name: row.name, LocustEntry(row), duration: result.duration)
        }
        let all = statsRow(type: "", name: "Aggregated", LocustEntry(result), duration: result.duration)
        return table([header] + rows + [all])
    }

    static func failures(_ result: LoadResult) -> String {
        let rows = result.operations.flatMap { row in
            row.failureReasons.map {
                [
                    row.family, row.name, $0.reason, String($0.count), $0.firstSeen.text(milliseconds: false),
                    $0.lastSeen.text(milliseconds: false),
                ]
            }
        }
        return table([["Method", "Name", "Error", "Occurrences", "First Seen", "Last Seen"]] + rows)
    }

    static func exceptions(_ result: LoadResult) -> String {
        let node = result.run.environment.host.name
        return table(
            [["Count", "Message", "Traceback", "Nodes"]]
                + result.exceptions.map { [String($0.count), $0.reason, "", node] })
    }

    /// Returns a table that Locust does not have, for values without a column in Locust's tables.
    static func environment(_ result: LoadResult) -> String {
        let rows = [("seed", String(result.run.seed))] + result.environmentRows.map { ($0.name, $0.value) }
        return table([["Name", "Value"]] + rows.map { [$0.0, $0.1] })
    }

    static func history(_ result: LoadResult) -> String {
        let header =
            ["Timestamp", "User Count", "Type", "Name", "Requests/s", "Failures/s"] + percentiles.map(\.name) + [
                "Total Request Count", "Total Failure Count", "Total Median Response Time",
                "Total Average Response Time", "Total Min Response Time", "Total Max Response Time",
                "Total Average Content Size",
            ]
        var before = (count: 0, failures: 0)
        var rows = [header]
        for (index, point) in result.series.aggregate.enumerated() {
            rows.append(historyRow(point, before: before, index: index, result))
            before = (point.count, point.failures)
        }
        return table(rows)
    }

    private static func statsRow(type: String, name: String, _ entry: LocustEntry, duration: Double) -> [String] {
        let rate = { (count: Int) in duration > 0 ? Figures.fixed(Double(count) / duration, 6) : "0" }
        return [type, name, String(entry.attempts), String(entry.failures)] + entry.times + ["0"]
            + [rate(entry.attempts), rate(entry.failures)] + entry.percentiles
    }

    private static func historyRow(
        _ point: LoadSeries.Aggregate, before: (count: Int, failures: Int), index: Int, _ result: LoadResult
    ) -> [String] {
        let entry = LocustEntry(point)
        let failed = point.failures - before.failures
        let width = min(
            Double(result.series.interval), max(result.duration - Double(index * result.series.interval), 0))
        let rate = { (count: Int) in width > 0 ? Figures.fixed(Double(count) / width, 6) : "0" }
        // A row is dated at the end of its slot.
        let end = min(Double((index + 1) * result.series.interval), result.duration)
        let timestamp = result.run.startedAt.advanced(by: .milliseconds(Int64(end * 1_000))).unixSeconds
        let agents = result.series.gauges[.agents].flatMap { $0.prefix(index + 1).last { $0 != nil } ?? nil } ?? 0
        return [String(timestamp), Figures.fixed(agents, 0), "", "Aggregated"]
            + [rate(point.count - before.count + failed), rate(failed)] + entry.percentiles
            + [String(entry.attempts), String(entry.failures)] + entry.times + ["0"]
    }

    // MARK: Format

    /// Formats like Python's `csv.writer`: RFC 4180 line ends, quotes only where needed.
    private static func table(_ rows: [[String]]) -> String {
        rows.map { $0.map(quoted).joined(separator: ",") + "\r\n" }.joined()
    }

    private static func quoted(_ cell: String) -> String {
        let plain = SafeText.lines(cell)
        // Scalars rather than characters: a quotation mark with a combining mark would be one character.
        let scalars = plain.unicodeScalars
        guard scalars.contains(where: { $0 == "," || $0 == "\"" || $0 == "\n" }) else { return plain }
        var quoted = String.UnicodeScalarView("\"".unicodeScalars)
        for scalar in scalars { quoted.append(contentsOf: scalar == "\"" ? [scalar, scalar] : [scalar]) }
        return String(quoted) + "\""
    }
}

/// The numbers of one Locust row.
struct LocustEntry {
    let attempts: Int
    let failures: Int
    /// Median, average, minimum, maximum, in milliseconds.
    let times: [String]
    let percentiles: [String]

    init(_ row: OperationResult) {
        let latency = row.latency
        self.init(
            count: row.count, failures: row.failures, min: latency?.min, mean: latency?.mean, max: latency?.max,
            percentiles: latency?.percentiles ?? [:])
    }

    init(_ point: LoadSeries.Aggregate) {
        self.init(
            count: point.count, failures: point.failures, min: point.min, mean: point.mean, max: point.max,
            percentiles: point.percentiles)
    }

    /// All operations together, from the last entry of the time series.
    init(_ result: LoadResult) {
        if let last = result.series.aggregate.last {
            self.init(last)
        } else {
            self.init(count: 0, failures: 0, min: nil, mean: nil, max: nil, percentiles: [:])
        }
    }

    private init(
        count: Int, failures: Int, min: Double?, mean: Double?, max: Double?, percentiles: [LoadPercentile: Double]
    ) {
        let milliseconds = { (seconds: Double?) in seconds.map { Figures.fixed($0 * 1_000, 3) } }
        attempts = count + failures
        self.failures = failures
        times = [percentiles[.p50], mean, min, max].map { milliseconds($0) ?? "0" }
        self.percentiles = LocustCSV.percentiles.map { column in
            milliseconds(column.key.map { percentiles[$0] } ?? max) ?? "N/A"
        }
    }
}
