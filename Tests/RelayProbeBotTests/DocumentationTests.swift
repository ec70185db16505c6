import BotKit
import Foundation
import ProbeReports
import Testing

/// docs/relay-probe.md names every text that a probe may report.
struct DocumentationTests {
    @Test func documentsEveryPhaseAndFault() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/relay-probe.md"), encoding: .utf8)
        for fault in RelayFault.allCases { #expect(page.contains("`\(fault.rawValue)`"), "\(fault)") }
        for phase in RelayPhase.allCases where !phase.rawValue.hasPrefix("kind_") {
            #expect(page.contains("`\(phase.rawValue)`"), "\(phase)")
        }
    }
}
