import Foundation
import Telemetry
import Testing

/// Compares the catalogue with the sources: metrics of another name, kind or label are not exported.
struct CatalogueTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A `Counter(label: "…")` or similar call.
    private struct Measurement {
        var maker: String
        var name: String
        /// The names of the labels; nil if they are not written in the call.
        var labels: [String]?
        var file: String
    }

    /// Returns the text of every source file outside the catalogue, by file name.
    private func sources() throws -> [(file: String, text: String)] {
        var found: [(String, String)] = []
        for folder in ["Sources", "bots"] {
            let root = Self.root.appending(path: folder)
            let files = try #require(FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil))
            for case let file as URL in files where file.pathExtension == "swift" {
                guard file.lastPathComponent != "MetricCatalogue.swift" else { continue }
                found.append((file.lastPathComponent, try String(contentsOf: file, encoding: .utf8)))
            }
        }
        return found
    }

    private func measurements() throws -> [Measurement] {
        let maker = /(Counter|FloatingPointCounter|Gauge|Meter|Timer|Recorder)/
        let call = /\(\s*label:\s*"([^"]+)"(,\s*dimensions:\s*\[[^\]]*\]|,\s*dimensions:|)/
        let label = /\("(\w+)",/
        var found: [Measurement] = []
        for (file, text) in try sources() {
            for match in text.matches(of: maker) {
                guard let rest = text[match.range.upperBound...].prefixMatch(of: call) else { continue }
                let isWritten = rest.2.isEmpty || rest.2.hasSuffix("]")
                let labels = rest.2.matches(of: label).map { String($0.1) }
                found.append(
                    Measurement(
                        maker: String(match.1), name: String(rest.1), labels: isWritten ? labels : nil, file: file))
            }
        }
        return found
    }

    @Test func everyMeasurementIsInTheCatalogue() throws {
        let kinds = Dictionary(uniqueKeysWithValues: MetricCatalogue.all.map { ($0.name, $0.kind) })
        let measurements = try measurements()
        #expect(measurements.count >= 30)
        for measurement in measurements {
            let kind: MetricFamily.Kind =
                switch measurement.maker {
                case "Counter", "FloatingPointCounter": .counter
                case "Timer", "Recorder": .histogram
                default: .gauge
                }
            #expect(kinds[measurement.name] == kind, "\(measurement.name) in \(measurement.file)")
        }
    }

    /// Other labels are not exported, and missing ones are empty.
    @Test func everyMeasurementHasTheCataloguesLabels() throws {
        let labels = Dictionary(uniqueKeysWithValues: MetricCatalogue.all.map { ($0.name, $0.labels) })
        for measurement in try measurements() {
            guard let written = measurement.labels else { continue }
            #expect(
                written.sorted() == labels[measurement.name]?.sorted(),
                "\(measurement.name) in \(measurement.file)")
        }
    }

    @Test func everySampleIsInTheCatalogue() throws {
        let names = Set(MetricCatalogue.all.map(\.name))
        let pattern = /\bMetricSample\(\s*"([^"]+)"/
        let samples = try sources().flatMap { source in
            source.text.matches(of: pattern).map { (name: String($0.1), file: source.file) }
        }
        #expect(samples.count >= 15)
        for (name, file) in samples { #expect(names.contains(name), "\(name) in \(file)") }
    }

    @Test func everyMetricOfTheCatalogueIsMeasured() throws {
        let texts = try sources().map { $0.text }
        // The supervisor exports it by its declaration.
        for metric in MetricCatalogue.all where metric.name != MetricCatalogue.workerUp.name {
            #expect(texts.contains { $0.contains("\"\(metric.name)\"") }, "\(metric.name)")
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
