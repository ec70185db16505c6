/// Plot area with axes and with marks of the run's stages and faults.
struct ChartFrame {
    static let width = 540.0
    static let height = 250.0
    static let left = 58.0
    static let right = 10.0
    static let top = 22.0
    static let bottom = 26.0

    let across: ChartScale
    let up: ChartScale

    func x(_ value: Double) -> Double { Self.left + across.position(value) * (Self.width - Self.left - Self.right) }

    func y(_ value: Double) -> Double {
        Self.height - Self.bottom - up.position(value) * (Self.height - Self.top - Self.bottom)
    }

    static var floor: Double { height - bottom }

    /// Draws the axes, with labels formatted by the two functions.
    func axes(_ acrossText: (Double) -> String, _ upText: (Double) -> String) -> String {
        let end = Self.width - Self.right
        let rows = up.ticks.map { tick in
            let place = y(tick)
            return "<line class=\"grid-line\" x1=\"\(SVG.number(Self.left))\" x2=\"\(SVG.number(end))\" "
                + "y1=\"\(SVG.number(place))\" y2=\"\(SVG.number(place))\"/>"
                + SVG.text(upText(tick), x: Self.left - 7, y: place + 4, anchor: "end")
        }
        let columns = across.ticks.map { tick in
            let place = x(tick)
            let anchor = place > end - 14 ? "end" : "middle"
            return SVG.text(acrossText(tick), x: anchor == "end" ? end : place, y: Self.floor + 17, anchor: anchor)
        }
        let axis =
            "<line class=\"axis\" x1=\"\(SVG.number(Self.left))\" x2=\"\(SVG.number(end))\" "
            + "y1=\"\(SVG.number(Self.floor))\" y2=\"\(SVG.number(Self.floor))\"/>"
        return (rows + columns + [axis]).joined(separator: "\n")
    }

    /// Shades every other stage, and draws each fault as a band with its number in the table of faults.
    func course(_ result: LoadResult) -> String {
        let stages = result.run.stages.enumerated().compactMap { index, stage in
            index % 2 == 1 ? band("stage", stage.from, stage.to, title: "stage: " + stage.name) : nil
        }
        var taken: [Double] = []
        let faults = result.faults.enumerated().map { index, fault in
            let start = x(fault.from)
            let edge =
                "<line class=\"edge\" x1=\"\(SVG.number(start))\" x2=\"\(SVG.number(start))\" "
                + "y1=\"\(SVG.number(Self.top))\" y2=\"\(SVG.number(Self.floor))\"/>"
            let title = fault.action + " " + fault.target
            let shade = fault.to.map { band("band", fault.from, $0, title: title) } ?? ""
            // Faults whose numbers would overlap share the first one's label.
            let isFree = !taken.contains { abs($0 - start) < 19 }
            if isFree { taken.append(start) }
            return shade + edge + (isFree ? badge(index + 1, at: start) : "")
        }
        return (stages + faults).joined(separator: "\n")
    }

    private func badge(_ number: Int, at place: Double) -> String {
        let half = number > 9 ? 10.0 : 8.0
        let middle = min(max(place, Self.left + half), Self.width - Self.right - half)
        return "<rect class=\"badge\" x=\"\(SVG.number(middle - half))\" y=\"3\" width=\"\(SVG.number(half * 2))\" "
            + "height=\"16\" rx=\"8\"/>"
            + SVG.text(String(number), x: middle, y: 14.5, anchor: "middle", style: "badge-text")
    }

    private func band(_ style: String, _ from: Double, _ to: Double, title: String) -> String {
        let (start, end) = (x(from), x(to))
        return "<rect class=\"\(style)\" x=\"\(SVG.number(start))\" y=\"\(SVG.number(Self.top))\" "
            + "width=\"\(SVG.number(max(0, end - start)))\" height=\"\(SVG.number(Self.floor - Self.top))\">"
            + "<title>\(HTMLTable.text(title))</title></rect>"
    }
}

/// Builders of SVG elements.
enum SVG {
    static func number(_ value: Double) -> String { Figures.fixed(value, 1) }

    static func text(_ text: String, x: Double, y: Double, anchor: String = "start", style: String? = nil) -> String {
        "<text x=\"\(number(x))\" y=\"\(number(y))\" text-anchor=\"\(anchor)\"\(style.map { " class=\"\($0)\"" } ?? "")>"
            + "\(HTMLTable.text(text))</text>"
    }

    /// Returns a complete picture; `label` is its text alternative.
    static func picture(width: Double, height: Double, label: String, _ parts: [String]) -> String {
        "<svg viewBox=\"0 0 \(number(width)) \(number(height))\" role=\"img\" aria-label=\"\(HTMLTable.text(label))\">\n"
            + parts.filter { !$0.isEmpty }.joined(separator: "\n") + "\n</svg>"
    }
}
