private import Foundation

/// Output format of a result.
package enum ReportFormat: String, CaseIterable, Codable, Sendable {
    /// Tables for a terminal.
    case text
    /// The complete result; see ``LoadResult/json()``.
    case json
    /// Four files in Locust's format.
    case csv
    /// One test case per threshold.
    case junit
    /// A metrics snapshot: one OpenMetrics file, and one in Prometheus' older text format for node_exporter.
    case openmetrics
    /// A self-contained page with charts.
    case html
}

/// A file of a report.
package struct ReportFile: Equatable, Sendable {
    package var name: String
    package var contents: String

    package init(name: String, contents: String) {
        self.name = name
        self.contents = contents
    }
}

extension ReportFormat {
    /// Returns the files of a result in this format; their names start with `base`.
    package func files(of result: LoadResult, base: String = "load") throws -> [ReportFile] {
        switch self {
        case .text: [ReportFile(name: base + ".txt", contents: TextReport.text(result))]
        case .json:
            [ReportFile(name: base + ".json", contents: String(decoding: try result.json(), as: UTF8.self) + "\n")]
        case .csv: LocustCSV.files(result, base: base)
        case .junit: [ReportFile(name: base + ".junit.xml", contents: JUnitReport.xml(result))]
        case .openmetrics:
            [
                ReportFile(name: base + ".openmetrics.txt", contents: MetricsSnapshot.text(result, .openMetrics)),
                ReportFile(name: base + ".prom", contents: MetricsSnapshot.text(result, .prometheus)),
            ]
        case .html: [ReportFile(name: base + ".html", contents: HTMLPage.html(result))]
        }
    }
}
