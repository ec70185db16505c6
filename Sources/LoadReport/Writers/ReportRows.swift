/// A row of the correctness table.
struct CorrectnessRow {
    let name: String
    /// The ratio; nil if it was never measured.
    let ratio: Double?
    let counts: String

    static func rows(_ result: LoadResult) -> [CorrectnessRow] {
        let found = result.correctness
        let count = Figures.count
        let excused = found.excused > 0 ? ", \(count(found.excused)) excused" : ""
        let (joined, planned) = (result.funnel.count(.joined), result.funnel.count(.planned))
        return [
            CorrectnessRow(
                name: "joins", ratio: result.funnel.joinRatio, counts: "\(count(joined)) of \(count(planned)) planned"),
            CorrectnessRow(
                name: "delivery", ratio: found.deliveryRatio,
                counts: "\(count(found.delivered)) of \(count(found.expected)) expected\(excused)"),
            CorrectnessRow(
                name: "order", ratio: found.orderRatio,
                counts: "\(count(found.inOrder)) of \(count(found.delivered)) in order"),
            CorrectnessRow(
                name: "duplicates", ratio: found.duplicateRatio, counts: "\(count(found.duplicates)) delivered again"),
            CorrectnessRow(
                name: "divergence", ratio: found.divergenceRatio,
                counts: "\(count(found.diverged)) of \(count(found.compared)) members compared"),
            CorrectnessRow(name: "conflicts", ratio: nil, counts: "\(count(found.conflicts)) commits lost a race"),
        ]
    }
}

extension LoadResult {
    /// The verdict as text.
    var verdict: String {
        let failed = thresholds.count { !$0.passed }
        if thresholds.isEmpty { return "finished, no thresholds" }
        return failed == 0
            ? "passed, \(thresholds.count) thresholds hold" : "FAILED, \(failed) of \(thresholds.count) thresholds"
    }

    /// Average number of busy processors of the generator.
    var processors: Double {
        duration > 0 ? (generator.userSeconds + generator.systemSeconds) / duration : 0
    }

    /// The environment as table rows.
    var environmentRows: [(name: String, value: String)] {
        let (environment, host) = (run.environment, run.environment.host)
        return [
            ("software", "\(environment.software), \(host.build) build, \(host.compiler)"),
            ("store", environment.store),
            ("relays", environment.relays.isEmpty ? "none" : environment.relays.joined(separator: ", ")),
            ("machine", "\(host.name): \(host.processors) × \(host.processor), \(Figures.bytes(host.memoryBytes))"),
            ("system", "\(host.system), kernel \(host.kernel)"),
        ] + environment.notes.map { ("note", $0) }
    }
}
