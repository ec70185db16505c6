/// Sections of the page, in order.
enum HTMLSections {
    static func all(_ result: LoadResult) -> [String] {
        [header(result), thresholds(result), tiles(result)] + charts(result)
            + [
                section("Operations", operations(result)), section("Failures", failures(result)),
                section("Correctness", correctness(result)), section("Faults and stages", course(result)),
                section("Generator", generator(result)), section("Environment", environment(result)),
                section("Plan", plan(result)),
            ].filter { !$0.isEmpty }
    }

    private static func section(_ title: String, _ content: String) -> String {
        content.isEmpty ? "" : "<section><h2>\(title)</h2>\n\(content)</section>"
    }

    // MARK: Top

    private static func header(_ result: LoadResult) -> String {
        let text = HTMLTable.text
        let verdict =
            result.thresholds.isEmpty
            ? "" : "<span class=\"verdict \(result.passed ? "good" : "bad")\">\(text(result.verdict))</span>"
        let when = result.run.startedAt.text(milliseconds: false)
        let facts = [
            when, Figures.time(result.duration), "seed \(result.run.seed)", result.run.environment.software,
            result.run.environment.host.build + " build",
        ]
        return "<header><div><h1>\(text(result.run.name))</h1>"
            + "<p class=\"soft\">\(text(facts.joined(separator: " · ")))</p></div>\(verdict)</header>"
    }

    private static func thresholds(_ result: LoadResult) -> String {
        var table = HTMLTable([.key("Threshold"), .key(""), .key("Must be"), .wide("Found")])
        for outcome in result.thresholds {
            let mark =
                outcome.passed ? "<span class=\"mark good\">holds</span>" : "<span class=\"mark bad\">fails</span>"
            table.add(
                markup: [HTMLTable.text(outcome.key), mark] + [outcome.condition, outcome.found].map(HTMLTable.text))
        }
        return table.isEmpty ? "" : table.html
    }

    private static func tiles(_ result: LoadResult) -> String {
        let (send, deliver) = (result.operation(.send), result.operation(.deliver))
        let tiles: [(String, String?)] = [
            ("peak agents", result.gauges[.agents].map { Figures.fixed($0.peak, 0) }),
            ("peak groups", result.gauges[.groups].map { Figures.fixed($0.peak, 0) }),
            ("messages sent", send.map { Figures.rate($0.rate) }),
            ("deliveries", deliver.map { Figures.rate($0.rate) }),
            ("delivery, p95", deliver?.latency?.percentiles[.p95].map(Figures.time)),
            ("join, p95", result.operation(.join)?.latency?.percentiles[.p95].map(Figures.time)),
            ("delivered", result.correctness.deliveryRatio.map(Figures.percent)),
            ("joined", result.funnel.joinRatio.map(Figures.percent)),
        ]
        let cards = tiles.compactMap { name, value in
            value.map { "<div class=\"card\"><b>\(HTMLTable.text($0))</b><span class=\"soft\">\(name)</span></div>" }
        }
        return cards.isEmpty ? "" : "<div class=\"tiles\">\(cards.joined(separator: "\n"))</div>"
    }

    // MARK: Tables

    private static func operations(_ result: LoadResult) -> String {
        let shown: [LoadPercentile] = [.p50, .p75, .p90, .p95, .p98, .p99, .p99d9, .p99d99]
        var table = HTMLTable(
            [.key("Operation"), .number("OK"), .number("Failed"), .number("Rate"), .number("Min"), .number("Mean")]
                + shown.map { .number($0.rawValue) } + [.number("Max")])
        func add(_ name: String, _ row: OperationResult, _ latency: LatencySummary?) {
            let times = [latency?.min, latency?.mean] + shown.map { latency?.percentiles[$0] } + [latency?.max]
            table.add(
                [name, Figures.count(row.count), Figures.count(row.failures), Figures.rate(row.rate)]
                    + times.map { $0.map(Figures.time) ?? "–" })
        }
        for row in result.operations {
            add(row.name, row, row.latency)
            if let service = row.service { add(row.name + ", without waiting", row, service) }
        }
        guard !table.isEmpty else { return "<p class=\"card\">No operation was attempted.</p>" }
        return table.html + "<p class=\"soft\">Latency counts from an operation's intended start, "
            + "so it includes the wait for the start; rows \"without waiting\" count from the actual start.</p>"
    }

    private static func failures(_ result: LoadResult) -> String {
        var table = HTMLTable([.key("Operation"), .number("Times"), .wide("Reason"), .key("First"), .key("Last")])
        let rows = result.operations.flatMap { row in row.failureReasons.map { (row.name, $0) } }
        for (name, row) in rows + result.exceptions.map({ ("generator", $0) }) {
            table.add([
                name, Figures.count(row.count), row.reason, clock(row.firstSeen, result), clock(row.lastSeen, result),
            ])
        }
        return table.isEmpty ? "" : table.html
    }

    private static func correctness(_ result: LoadResult) -> String {
        var table = HTMLTable([.key("Question"), .number("Ratio"), .wide("Counts")])
        for row in CorrectnessRow.rows(result) {
            table.add([row.name, row.ratio.map(Figures.percent) ?? "–", row.counts])
        }
        return table.html
    }

    private static func course(_ result: LoadResult) -> String {
        var table = HTMLTable([.key(""), .key("From"), .key("To"), .wide("What")])
        for (index, fault) in result.faults.enumerated() {
            let cells = [
                Figures.clock(fault.from), fault.to.map(Figures.clock) ?? "", fault.action + " " + fault.target,
            ]
            table.add(markup: ["<span class=\"number\">\(index + 1)</span>"] + cells.map(HTMLTable.text))
        }
        for stage in result.run.stages {
            table.add(["stage", Figures.clock(stage.from), Figures.clock(stage.to), stage.name])
        }
        return table.isEmpty ? "" : table.html
    }

    private static func generator(_ result: LoadResult) -> String {
        let cost = result.generator
        var table = HTMLTable([.key("Of the generator's process, agents included"), .wide("")])
        table.add([
            "Processor time",
            "\(Figures.time(cost.userSeconds)) in the program, "
                + "\(Figures.time(cost.systemSeconds)) in the kernel: \(Figures.significant(result.processors)) processors busy",
        ])
        table.add(["Peak memory", Figures.bytes(cost.peakMemoryBytes)])
        if let lag = cost.lag {
            let shown = [LoadPercentile.p50, .p95, .p99].compactMap { key in
                lag.percentiles[key].map { "\(key.rawValue) \(Figures.time($0))" }
            }
            table.add(["Lag behind the plan", (shown + ["max \(Figures.time(lag.max))"]).joined(separator: ", ")])
        }
        return table.html
    }

    private static func environment(_ result: LoadResult) -> String {
        var table = HTMLTable([.key("Where"), .wide("")])
        table.add(["seed", String(result.run.seed)])
        for row in result.environmentRows { table.add([row.name, row.value]) }
        return table.html
    }

    private static func plan(_ result: LoadResult) -> String {
        guard !result.run.plan.isEmpty else { return "" }
        return "<div class=\"card\"><pre>\(Markup.escaped(SafeText.lines(result.run.plan)))</pre></div>"
    }

    private static func clock(_ moment: WallTime, _ result: LoadResult) -> String {
        Figures.clock(Double(moment.unixMilliseconds - result.run.startedAt.unixMilliseconds) / 1_000)
    }
}
