/// Line chart of values over the run.
struct LineChart {
    /// One line: a value for each slot, nil where there is none.
    struct Line {
        let name: String
        /// Name of the color variable in the style sheet.
        let color: String
        let values: [Double?]
        /// Whether the line is wide and pale, so that a line on top of it does not hide it.
        var isWide = false
    }

    let title: String
    let note: String
    let lines: [Line]
    /// Whether the vertical axis is logarithmic, for latencies.
    let isLogarithmic: Bool
    /// Whether values are whole numbers, without ticks in between.
    var isWhole = false
    let format: (Double) -> String

    /// Returns the card with title, legend and picture; nil when there is no data.
    func card(_ result: LoadResult) -> String? {
        let values = lines.flatMap { $0.values.compactMap { $0 } }.filter { !isLogarithmic || $0 > 0 }
        guard let largest = values.max(), let smallest = values.min() else { return nil }
        let frame = ChartFrame(
            across: .time(upTo: result.duration),
            up: isLogarithmic ? .logarithmic(smallest, largest) : .linear(upTo: largest, isWhole: isWhole))
        let parts =
            [frame.course(result), frame.axes(Figures.clock, format)] + lines.map { path($0, frame, result) }
            + [hovers(frame, result)]
        let picture = SVG.picture(width: ChartFrame.width, height: ChartFrame.height, label: title, parts)
        return Self.card(title: title, note: note, keys: lines.map { ($0.name, $0.color) }, picture)
    }

    static func card(title: String, note: String, keys: [(name: String, color: String)], _ picture: String) -> String {
        let key = keys.map { "<span><i style=\"background:var(\($0.color))\"></i>\(HTMLTable.text($0.name))</span>" }
        return "<div class=\"card\"><h3>\(HTMLTable.text(title))</h3><p class=\"soft\">\(HTMLTable.text(note))</p>"
            + (!keys.isEmpty ? "<div class=\"keys\">\(key.joined())</div>" : "") + "\n\(picture)</div>"
    }

    /// Returns the time at which a slot's value is drawn: its middle, or the middle of a shorter last slot.
    private func moment(_ index: Int, _ result: LoadResult) -> Double {
        let width = Double(result.series.interval)
        let start = Double(index) * width
        return start + min(width, max(result.duration - start, 0)) / 2
    }

    private func path(_ line: Line, _ frame: ChartFrame, _ result: LoadResult) -> String {
        var (steps, dots, isDrawing) = ("", "", false)
        for (index, value) in line.values.enumerated() {
            guard let value else {
                isDrawing = false
                continue
            }
            let (x, y) = (SVG.number(frame.x(moment(index, result))), SVG.number(frame.y(value)))
            let isAlone = !isDrawing && (index + 1 >= line.values.count || line.values[index + 1] == nil)
            if isAlone { dots += "<circle cx=\"\(x)\" cy=\"\(y)\" r=\"2.2\" style=\"fill:var(\(line.color))\"/>" }
            steps += (isDrawing ? "L" : "M") + x + " " + y
            isDrawing = true
        }
        return
            "<path class=\"series\(line.isWide ? " wide" : "")\" style=\"stroke:var(\(line.color))\" d=\"\(steps)\"/>"
            + dots
    }

    /// Adds tooltips: at most 120 strips, each with the values of its middle slot.
    private func hovers(_ frame: ChartFrame, _ result: LoadResult) -> String {
        let length = lines.map(\.values.count).max() ?? 0
        let step = max(1, (length + 119) / 120)
        return stride(from: 0, to: length, by: step).map { first in
            let index = min(first + step / 2, length - 1)
            let values = lines.compactMap { line in
                (index < line.values.count ? line.values[index] : nil).map { "\(line.name) \(format($0))" }
            }
            let start = frame.x(Double(first * result.series.interval))
            let end = frame.x(Double((first + step) * result.series.interval))
            let title = ([Figures.clock(Double(index * result.series.interval))] + values).joined(separator: " · ")
            return "<rect class=\"hover\" x=\"\(SVG.number(start))\" y=\"\(SVG.number(ChartFrame.top))\" "
                + "width=\"\(SVG.number(max(0, end - start)))\" height=\"\(SVG.number(ChartFrame.floor - ChartFrame.top))\">"
                + "<title>\(HTMLTable.text(title))</title></rect>"
        }.joined()
    }
}
