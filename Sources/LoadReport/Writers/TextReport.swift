/// Writes a result as tables for a terminal.
package enum TextReport {
    package static func text(_ result: LoadResult) -> String {
        let parts = [
            head(result), thresholds(result), operations(result), failures(result), funnel(result), messages(result),
            generator(result), course(result), environment(result),
        ]
        return parts.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }.joined(separator: "\n\n") + "\n"
    }

    private static func head(_ result: LoadResult) -> [String] {
        [
            "Load run \(SafeText.line(result.run.name)): \(result.verdict)",
            "\(result.run.startedAt.text(milliseconds: false)), \(Figures.time(result.duration)), seed \(result.run.seed)",
        ]
    }

    private static func thresholds(_ result: LoadResult) -> [String] {
        var table = TextTable(["", "threshold", "condition", "found"], left: [0, 1, 2, 3])
        for outcome in result.thresholds {
            table.add([outcome.passed ? "ok" : "FAIL", outcome.key, outcome.condition, outcome.found])
        }
        return result.thresholds.isEmpty ? [] : table.lines
    }

    private static func operations(_ result: LoadResult) -> [String] {
        let shown: [LoadPercentile] = [.p50, .p90, .p95, .p99, .p99d9]
        let header = ["operation", "ok", "failed", "rate", "min", "mean"] + shown.map(\.rawValue) + ["max"]
        var table = TextTable(header, left: [0])
        for row in result.operations {
            let latency = row.latency
            let times = [latency?.min, latency?.mean] + shown.map { latency?.percentiles[$0] } + [latency?.max]
            table.add(
                [row.name, Figures.count(row.count), Figures.count(row.failures), Figures.rate(row.rate)]
                    + times.map { $0.map(Figures.time) ?? "–" })
        }
        return result.operations.isEmpty ? ["No operation was attempted."] : table.lines
    }

    private static func failures(_ result: LoadResult) -> [String] {
        var table = TextTable(["failed", "times", "reason"], left: [0, 2])
        for row in result.operations {
            for reason in row.failureReasons { table.add([row.name, Figures.count(reason.count), reason.reason]) }
        }
        for row in result.exceptions { table.add(["generator", Figures.count(row.count), row.reason]) }
        return table.lines.count > 1 ? table.lines : []
    }

    private static func funnel(_ result: LoadResult) -> [String] {
        guard result.funnel.count(.planned) > 0 else { return [] }
        var table = TextTable(["joins", "reached", "lost before it"], left: [0, 2])
        for stage in result.funnel.stages {
            let lost = stage.lost.map { "\($0.reason): \($0.count)" }.joined(separator: ", ")
            table.add([stage.name, Figures.count(stage.count), lost])
        }
        return table.lines
    }

    private static func messages(_ result: LoadResult) -> [String] {
        var table = TextTable(["correctness", "ratio", "counts"], left: [0, 2])
        for row in CorrectnessRow.rows(result) {
            table.add([row.name, row.ratio.map(Figures.percent) ?? "–", row.counts])
        }
        return table.lines
    }

    private static func generator(_ result: LoadResult) -> [String] {
        let cost = result.generator
        let lag = cost.lag.map { lag in
            let times = [LoadPercentile.p50, .p99].compactMap { key in
                lag.percentiles[key].map { "\(key.rawValue) \(Figures.time($0))" }
            }
            return "; lag " + times.joined(separator: ", ") + ", max " + Figures.time(lag.max)
        }
        return [
            "generator: \(Figures.time(cost.userSeconds + cost.systemSeconds)) of CPU time "
                + "(\(Figures.significant(result.processors)) processors busy), peak memory "
                + "\(Figures.bytes(cost.peakMemoryBytes))" + (lag ?? "")
        ]
    }

    private static func course(_ result: LoadResult) -> [String] {
        let stages = result.run.stages.map { "stage  \(Figures.clock($0.from)) to \(Figures.clock($0.to))  \($0.name)" }
        let faults = result.faults.map { fault in
            "fault  \(Figures.clock(fault.from))" + (fault.to.map { " to \(Figures.clock($0))" } ?? "")
                + "  \(fault.action) \(fault.target)"
        }
        return (stages + faults).map(SafeText.line)
    }

    private static func environment(_ result: LoadResult) -> [String] {
        result.environmentRows.map { "\($0.name): \($0.value)" }.map(SafeText.line)
    }
}
