/// A line chart as inline SVG, without scripts and without style attributes, which the page's policy refuses.
package struct Chart: Sendable, Hashable {
    package struct Series: Sendable, Hashable {
        package var name: String
        /// Nil leaves a gap.
        package var values: [Double?]

        package init(_ name: String, _ values: [Double?]) {
            self.name = name
            self.values = values
        }
    }

    package var title: String
    package var unit: String
    package var series: [Series]
    /// The labels of the first and the last value.
    package var from: String
    package var to: String

    package init(_ title: String, unit: String, series: [Series], from: String, to: String = "now") {
        self.title = title
        self.unit = unit
        self.series = series
        self.from = from
        self.to = to
    }

    private static let width = 480.0
    private static let height = 120.0
    private static let left = 44.0
    private static let bottom = 18.0
    private static let top = 6.0
    /// Colours of series in the style sheet.
    private static let colours = 4

    /// The chart with its title and legend.
    package var html: HTML {
        let top = Self.niceMaximum(series.flatMap { $0.values.compactMap { $0 } }.max() ?? 0)
        let lines = HTML(
            series.enumerated().map { number, series in
                let paths = Self.segments(series.values, maximum: top).map { points -> HTML in
                    #"<polyline class="line line-\#(number % Self.colours)" points="\#(points)"/>"#
                }
                return HTML(paths)
            })
        let label = summary
        return #"""
            <figure class="chart"><figcaption>\#(title) <span class="unit">\#(unit)</span>\#(legend)</figcaption>
            <svg viewBox="0 0 480 120" role="img" aria-label="\#(label)" focusable="false">
            <line class="axis" x1="44" y1="6" x2="480" y2="6"/><line class="axis" x1="44" y1="54" x2="480" y2="54"/>
            <line class="axis" x1="44" y1="102" x2="480" y2="102"/>\#(lines)
            <text class="tick" x="40" y="10" text-anchor="end">\#(HTML.short(top))</text>
            <text class="tick" x="40" y="58" text-anchor="end">\#(HTML.short(top / 2))</text>
            <text class="tick" x="40" y="106" text-anchor="end">0</text>
            <text class="tick" x="44" y="117">\#(from)</text><text class="tick" x="480" y="117" text-anchor="end">\#(to)</text>
            </svg></figure>
            """#
    }

    private var legend: HTML {
        guard series.count > 1 else { return .empty }
        return HTML(
            series.enumerated().map { number, series in
                #"<span class="key key-\#(number % Self.colours)">\#(series.name)</span>"#
            })
    }

    /// The chart in words, for readers who do not see it.
    private var summary: String {
        let parts = series.map { series in
            let known = series.values.compactMap { $0 }
            guard let last = known.last, let highest = known.max() else { return "\(series.name): no values" }
            return "\(series.name): last \(HTML.short(last)), highest \(HTML.short(highest))"
        }
        return "\(title) in \(unit); " + parts.joined(separator: "; ")
    }

    /// Returns the points of each run of known values.
    private static func segments(_ values: [Double?], maximum: Double) -> [String] {
        let room = width - left
        let step = values.count > 1 ? room / Double(values.count - 1) : 0
        var segments: [String] = []
        var points: [String] = []
        for (index, value) in values.enumerated() {
            guard let value, value.isFinite else {
                if !points.isEmpty { segments.append(points.joined(separator: " ")) }
                points = []
                continue
            }
            let y = top + (height - bottom - top) * (1 - min(max(value / maximum, 0), 1))
            points.append("\(coordinate(left + step * Double(index))),\(coordinate(y))")
        }
        if !points.isEmpty { segments.append(points.joined(separator: " ")) }
        // A single point is drawn as a short line.
        return segments.map { $0.contains(" ") ? $0 : "\($0) \($0)" }
    }

    /// Returns a coordinate with one decimal.
    static func coordinate(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
    }

    /// Returns the end of an axis: 1, 2 or 5 times a power of ten, at least the value.
    static func niceMaximum(_ value: Double) -> Double {
        guard value.isFinite, value > 0 else { return 1 }
        var unit = 1.0
        while unit < value / 10, unit < 1e15 { unit *= 10 }
        while unit > value, unit > 1e-6 { unit /= 10 }
        for factor in [1.0, 2, 5, 10] where unit * factor >= value { return unit * factor }
        return unit * 10
    }
}

/// A small line without axes, for a cell of a table.
package struct Sparkline: Sendable, Hashable {
    package var name: String
    package var values: [Double?]

    package init(_ name: String, _ values: [Double?]) {
        self.name = name
        self.values = values
    }

    package var html: HTML {
        let known = values.compactMap { $0 }
        guard let last = known.last, let highest = known.max() else { return HTML.none }
        let maximum = max(highest, 1)
        let step = values.count > 1 ? 96 / Double(values.count - 1) : 0
        var points: [String] = []
        for (index, value) in values.enumerated() {
            guard let value, value.isFinite else { continue }
            let y = 1 + 18 * (1 - min(max(value / maximum, 0), 1))
            points.append("\(Chart.coordinate(2 + step * Double(index))),\(Chart.coordinate(y))")
        }
        let label = "\(name): last \(HTML.short(last)), highest \(HTML.short(highest)) in the last hour"
        return #"""
            <svg class="spark" viewBox="0 0 100 20" role="img" aria-label="\#(label)" focusable="false"><polyline class="line line-0" points="\#(points.joined(separator: " "))"/></svg><span class="last">\#(HTML.short(last))</span>
            """#
    }
}
