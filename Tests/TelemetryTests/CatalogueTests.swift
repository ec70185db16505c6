import Foundation
import Telemetry
import Testing

/// Compares the catalogue with the sources: metrics of another name or kind are not exported.
struct CatalogueTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Returns every `Counter(label: "…")` and similar call with its file.
    private func measurements() throws -> [(maker: String, name: String, file: String)] {
        let pattern = /\b(Counter|FloatingPointCounter|Gauge|Meter|Timer|Recorder)\(\s*label:\s*"([^"]+)"/
        let sources = Self.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var found: [(String, String, String)] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            found += text.matches(of: pattern).map { (String($0.1), String($0.2), file.lastPathComponent) }
        }
        return found
    }

    @Test func everyMeasurementIsInTheCatalogue() throws {
        let kinds = Dictionary(uniqueKeysWithValues: MetricCatalogue.all.map { ($0.name, $0.kind) })
        let measurements = try measurements()
        #expect(measurements.count >= 30)
        for (maker, name, file) in measurements {
            let kind: MetricFamily.Kind =
                switch maker {
                case "Counter", "FloatingPointCounter": .counter
                case "Timer", "Recorder": .histogram
                default: .gauge
                }
            #expect(kinds[name] == kind, "\(name) in \(file)")
        }
    }

    @Test func documentListsEveryMetric() throws {
        let document = try String(contentsOf: Self.root.appending(path: "docs/metrics.md"), encoding: .utf8)
        for metric in MetricCatalogue.all + MetricCatalogue.own {
            let labels = metric.labels.isEmpty ? "" : "{\(metric.labels.joined(separator: ","))}"
            #expect(
                document.contains("| `\(metric.name)\(labels)` | \(metric.kind.rawValue) | \(metric.help) |"),
                "\(metric.name)")
        }
    }
}
