private import Foundation

/// A form in which a result can be written.
public enum ReportFormat: String, CaseIterable, Codable, Sendable {
    /// Tables for a terminal.
    case text
    /// Everything; see ``LoadResult/json()``.
    case json
    /// Four files shaped as Locust's.
    case csv
    /// One test case a threshold.
    case junit
    /// A snapshot of the metrics: one file of OpenMetrics, and one of Prometheus' older text format for node_exporter.
    case openmetrics
    /// A page with charts that needs nothing else.
    case html
}

/// A file of a report.
public struct ReportFile: Equatable, Sendable {
    public var name: String
    public var contents: String

    public init(name: String, contents: String) {
        self.name = name
        self.contents = contents
    }
}

extension ReportFormat {
    /// The files of a result in this form, their names beginning with `base`.
    public func files(of result: LoadResult, base: String = "load") throws -> [ReportFile] {
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
