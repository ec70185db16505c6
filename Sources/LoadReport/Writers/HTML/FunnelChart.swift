/// A bar chart of the invited agents that reached each stage, with the failure reasons of those that did not.
struct FunnelChart {
    private static let row = 38.0
    private static let nameEnd = 102.0
    private static let barEnd = 400.0

    static func card(_ result: LoadResult) -> String? {
        let planned = result.funnel.count(.planned)
        guard planned > 0 else { return nil }
        let rows = result.funnel.stages.enumerated().map { index, stage in
            bar(stage, of: planned, top: Double(index) * row + 6)
        }
        let height = Double(result.funnel.stages.count) * row + 6
        return LineChart.card(
            title: "Joins", note: "invited agents by the stage they reached", keys: [],
            SVG.picture(width: ChartFrame.width, height: height, label: "Joins by stage", rows))
    }

    private static func bar(_ stage: JoinFunnel.Stage, of planned: Int, top: Double) -> String {
        let share = min(1, Double(stage.count) / Double(planned))
        let width = (barEnd - nameEnd) * share
        let reasons = stage.lost.map { "\($0.reason): \($0.count)" }.joined(separator: ", ")
        let lost = stage.lost.isEmpty ? "" : "lost: " + reasons
        let track = { (style: String, width: Double) in
            "<rect \(style) x=\"\(SVG.number(nameEnd + 8))\" y=\"\(SVG.number(top))\" width=\"\(SVG.number(width))\" "
                + "height=\"16\" rx=\"3\">" + (lost.isEmpty ? "" : "<title>\(HTMLTable.text(lost))</title>") + "</rect>"
        }
        return SVG.text(stage.name, x: nameEnd, y: top + 12.5, anchor: "end", style: "name")
            + track("class=\"track\"", barEnd - nameEnd) + track("style=\"fill:var(--c0)\"", width)
            + SVG.text(
                "\(Figures.count(stage.count)) · \(Figures.percent(share))", x: barEnd + 16, y: top + 12.5,
                style: "value")
            + (lost.isEmpty ? "" : SVG.text(cut(lost, to: 68), x: nameEnd + 8, y: top + 28))
    }

    private static func cut(_ text: String, to length: Int) -> String {
        text.count <= length ? text : String(text.prefix(length - 1)) + "…"
    }
}
