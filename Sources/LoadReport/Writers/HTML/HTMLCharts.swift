extension HTMLSections {
    /// The charts, in sections.
    static func charts(_ result: LoadResult) -> [String] {
        let course = [throughput(result), failures(result), agents(result), deliveries(result)]
        let main: [LoadOperation] = [.deliver, .send, .join]
        let others = LoadOperation.allCases.filter { !main.contains($0) }
        return [
            grid("Course of the run", course),
            grid("Latency over time", main.map { latency($0, result) } + [DistributionChart.card(result)]),
            grid("Joins and messages", [FunnelChart.card(result), messages(result)]),
            folded("Other operations over time", others.map { latency($0, result) }),
        ].filter { !$0.isEmpty }
    }

    private static func grid(_ title: String, _ cards: [String?]) -> String {
        let found = cards.compactMap { $0 }
        return found.isEmpty ? "" : "<section><h2>\(title)</h2>\n\(grid(of: found))</section>"
    }

    /// Returns a section that is collapsed initially.
    private static func folded(_ title: String, _ cards: [String?]) -> String {
        let found = cards.compactMap { $0 }
        return found.isEmpty ? "" : "<details><summary>\(title)</summary>\n\(grid(of: found))</details>"
    }

    private static func grid(of cards: [String]) -> String {
        "<div class=\"grid\">\n\(cards.joined(separator: "\n"))\n</div>"
    }

    /// Converts counts to rates per second; the last slot may be shorter.
    private static func perSecond(_ counts: [Int], _ result: LoadResult) -> [Double?] {
        let width = Double(result.series.interval)
        return counts.enumerated().map { index, count in
            let had = min(width, result.duration - Double(index) * width)
            // A count over a small fraction of a slot gives no meaningful rate.
            return had >= width / 4 ? Double(count) / had : nil
        }
    }

    private static func series(_ operation: LoadOperation, _ result: LoadResult) -> LoadSeries.Operation? {
        result.series.operations.first { $0.name == operation.name }
    }

    private static func throughput(_ result: LoadResult) -> String? {
        let shown: [(LoadOperation, String)] = [
            (.deliver, "--c0"), (.send, "--c1"), (.join, "--c2"), (.commit, "--c3"),
        ]
        let lines = shown.compactMap { operation, color in
            series(operation, result).map {
                LineChart.Line(name: operation.name, color: color, values: perSecond($0.count, result))
            }
        }
        return LineChart(
            title: "Throughput", note: "successes per second", lines: lines, isLogarithmic: false, format: Figures.rate
        ).card(result)
    }

    private static func failures(_ result: LoadResult) -> String? {
        let colors = ["--c4", "--c2", "--c3", "--c5"]
        let failing = result.series.operations.filter { $0.failures.contains { $0 > 0 } }
            .sorted { $0.failures.reduce(0, +) > $1.failures.reduce(0, +) }
        let lines = zip(failing, colors).map {
            LineChart.Line(name: $0.name, color: $1, values: perSecond($0.failures, result))
        }
        let note =
            failing.count > colors.count ? "per second, the \(colors.count) operations that fail most" : "per second"
        return LineChart(title: "Failures", note: note, lines: lines, isLogarithmic: false, format: Figures.rate)
            .card(result)
    }

    /// Repeats a gauge's last value in slots without one.
    private static func held(_ values: [Double?]) -> [Double?] {
        var last: Double?
        return values.map { value in
            last = value ?? last
            return last
        }
    }

    private static func agents(_ result: LoadResult) -> String? {
        let lines = zip([LoadGauge.agents, .groups], ["--c0", "--c2"]).compactMap { gauge, color in
            result.series.gauges[gauge].map { LineChart.Line(name: gauge.rawValue, color: color, values: held($0)) }
        }
        return LineChart(
            title: "Agents and groups", note: "at the end of each interval", lines: lines, isLogarithmic: false,
            isWhole: true, format: { Figures.count(Int($0.rounded())) }
        ).card(result)
    }

    /// Returns the chart of cumulative deliveries: a gap between its two lines shows deliveries in flight, and a
    /// lasting gap shows lost ones.
    private static func deliveries(_ result: LoadResult) -> String? {
        guard result.correctness.expected > 0 else { return nil }
        func sums(_ counts: [Int]) -> [Double?] {
            var sum = 0
            return counts.map { count in
                sum += count
                return Double(sum)
            }
        }
        return LineChart(
            title: "Deliveries", note: "since the start; the gap is deliveries in flight or lost",
            lines: [
                LineChart.Line(name: "expected", color: "--c5", values: sums(result.series.expected), isWide: true),
                LineChart.Line(name: "delivered", color: "--c1", values: sums(result.series.delivered)),
            ], isLogarithmic: false, isWhole: true, format: { Figures.count(Int($0.rounded())) }
        ).card(result)
    }

    private static func latency(_ operation: LoadOperation, _ result: LoadResult) -> String? {
        guard let row = series(operation, result) else { return nil }
        let lines = [("p50", "--p50", row.p50), ("p95", "--p95", row.p95), ("p99", "--p99", row.p99)]
        return LineChart(
            title: operation.title.prefix(1).uppercased() + operation.title.dropFirst(),
            note: "latency of \(operation.name), including the wait for the start",
            lines: lines.map { LineChart.Line(name: $0, color: $1, values: $2) }, isLogarithmic: true,
            format: Figures.time
        ).card(result)
    }

    /// Bars of delivered, ordered and unique messages.
    private static func messages(_ result: LoadResult) -> String? {
        let rows = CorrectnessRow.rows(result).filter { ["delivery", "order"].contains($0.name) && $0.ratio != nil }
        guard !rows.isEmpty else { return nil }
        let bars = rows.enumerated().map { index, row in RatioBar.bar(row, top: Double(index) * 44 + 8) }
        let counts = result.correctness
        let rest = [
            "duplicates: \(Figures.count(counts.duplicates))",
            "diverged: \(Figures.count(counts.diverged)) of \(Figures.count(counts.compared)) members compared",
            "commits that lost a race: \(Figures.count(counts.conflicts))",
        ].enumerated().map { index, text in
            SVG.text(text, x: 0, y: Double(rows.count) * 44 + 24 + Double(index) * 20, style: "name")
        }
        return LineChart.card(
            title: "Messages", note: "delivered, and in order", keys: [],
            SVG.picture(
                width: ChartFrame.width, height: Double(rows.count) * 44 + 76, label: "Delivery and order", bars + rest)
        )
    }
}

/// A ratio as a bar, with its counts below.
enum RatioBar {
    static func bar(_ row: CorrectnessRow, top: Double) -> String {
        let (start, full) = (72.0, 340.0)
        let ratio = min(max(row.ratio ?? 0, 0), 1)
        let part = { (style: String, width: Double) in
            "<rect \(style) x=\"\(SVG.number(start))\" y=\"\(SVG.number(top))\" width=\"\(SVG.number(width))\" "
                + "height=\"16\" rx=\"3\"/>"
        }
        return SVG.text(row.name, x: 0, y: top + 12.5, style: "name") + part("class=\"track\"", full)
            + part("style=\"fill:var(--c1)\"", full * ratio)
            + SVG.text(Figures.percent(ratio), x: start + full + 12, y: top + 12.5, style: "value")
            + SVG.text(row.counts, x: start, y: top + 30)
    }
}
