/// Formats a run in progress; the caller prints it, every second on a terminal.
package enum LiveProgress {
    /// Returns lines for a terminal, at most `width` wide.
    package static func table(_ snapshot: LoadSnapshot, width: Int) -> [String] {
        var table = TextTable(["operation", "ok", "failed", "now", "p50", "p95", "p99"], left: [0])
        for row in snapshot.operations {
            table.add([
                row.operation.name, Figures.count(row.count), Figures.count(row.failures), Figures.rate(row.recentRate),
                time(row.p50), time(row.p95), time(row.p99),
            ])
        }
        let head = [progress(snapshot, width: width), facts(snapshot).joined(separator: "   ")]
        let faults = snapshot.faults.map { "fault: " + SafeText.line($0) }
        return (head + faults + (snapshot.operations.isEmpty ? [] : [""] + table.lines)).map { cut($0, to: width) }
    }

    /// Returns one log line; printed every few seconds.
    package static func line(_ snapshot: LoadSnapshot) -> String {
        var parts = [clock(snapshot)] + facts(snapshot)
        let failures = snapshot.operations.reduce(0) { $0 + $1.failures }
        for row in snapshot.operations where [.join, .send, .deliver].contains(row.operation) {
            let tail = row.p95.map { " p95 " + Figures.time($0) } ?? ""
            parts.append("\(row.operation.name) \(Figures.rate(row.recentRate))\(tail)")
        }
        parts.append("failures \(Figures.count(failures))")
        parts += snapshot.faults.map { "fault: " + SafeText.line($0) }
        return parts.joined(separator: ", ")
    }

    private static func facts(_ snapshot: LoadSnapshot) -> [String] {
        var facts = [LoadGauge.agents, .groups].compactMap { gauge in
            snapshot.gauges[gauge].map { "\(gauge.rawValue) \(Figures.fixed($0, 0))" }
        }
        let correctness = snapshot.correctness
        if correctness.deliveryRatio != nil {
            facts.append("delivered \(Figures.count(correctness.delivered)) of \(Figures.count(correctness.expected))")
        }
        if correctness.diverged > 0 { facts.append("diverged \(correctness.diverged)") }
        if let lag = snapshot.lag { facts.append("lag p99 \(Figures.time(lag))") }
        return facts
    }

    /// Returns a progress bar, if the plan's duration is known.
    private static func progress(_ snapshot: LoadSnapshot, width: Int) -> String {
        guard let planned = snapshot.planned, planned > 0 else { return clock(snapshot) }
        let cells = min(30, max(10, width - 30))
        let full = Int((min(1, snapshot.elapsed / planned) * Double(cells)).rounded(.down))
        let bar = String(repeating: "█", count: full) + String(repeating: "░", count: cells - full)
        return bar + " " + clock(snapshot)
    }

    private static func clock(_ snapshot: LoadSnapshot) -> String {
        let elapsed = Figures.clock(snapshot.elapsed)
        return snapshot.planned.map { "\(elapsed) of \(Figures.clock($0))" } ?? elapsed
    }

    private static func time(_ seconds: Double?) -> String { seconds.map(Figures.time) ?? "–" }

    private static func cut(_ line: String, to width: Int) -> String {
        line.count <= width ? line : String(line.prefix(max(0, width - 1))) + (width > 0 ? "…" : "")
    }
}
