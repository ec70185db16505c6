private import Foundation

/// Latency by percentile, on a scale that spreads the tail.
struct DistributionChart {
    private static let colors = ["--c0", "--c1", "--c2", "--c3", "--c4", "--c5"]
    private static let preferred: [LoadOperation] = [.deliver, .send, .join, .firstMessage, .commit, .add]

    static func card(_ result: LoadResult) -> String? {
        let rows = preferred.compactMap { result.operation($0) }.filter { ($0.latency?.samples ?? 0) > 1 }
        var values: [Double] = []
        for latency in rows.compactMap(\.latency) { values += Array(latency.percentiles.values) + [latency.max] }
        values.removeAll { $0 <= 0 }
        guard let smallest = values.min(), let largest = values.max() else { return nil }
        let frame = ChartFrame(across: nines, up: .logarithmic(smallest, largest))
        let lines = zip(rows, colors).map { row, color in
            "<path class=\"series\" style=\"stroke:var(\(color))\" d=\"\(path(row, frame))\"/>"
        }
        let picture = SVG.picture(
            width: ChartFrame.width, height: ChartFrame.height, label: "Latency by percentile",
            [frame.axes(label, Figures.time)] + lines)
        return LineChart.card(
            title: "Latency by percentile", note: "whole run; a line ends where its samples end",
            keys: zip(rows, colors).map { ($0.name, $1) }, picture)
    }

    /// Horizontal axis by the share of slower samples: one in 1, 10, 100 …
    private static let nines = ChartScale(
        lower: 0, upper: 4, isLogarithmic: false, ticks: [0, 0.30103, 1, 1.30103, 2, 3, 4])

    private static func label(_ tick: Double) -> String {
        tick == 0 ? "min" : "p" + Figures.fixed(100 - 100 / pow(10, tick), 2)
    }

    /// Leaves out percentiles determined by less than one sample, which would repeat the maximum.
    private static func path(_ row: OperationResult, _ frame: ChartFrame) -> String {
        guard let latency = row.latency else { return "" }
        let known = LoadPercentile.allCases.filter { (1 - $0.percent / 100) * Double(latency.samples) >= 1 }
        let points = known.compactMap { key in latency.percentiles[key].map { (-log10(1 - key.percent / 100), $0) } }
        return ([(0, latency.min)] + points).enumerated().map { index, point in
            (index == 0 ? "M" : "L") + SVG.number(frame.x(point.0)) + " " + SVG.number(frame.y(point.1))
        }.joined()
    }
}
