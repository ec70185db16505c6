package import ArgumentParser
import BotKit
import Diagnosis
import Logging
package import ProbeReports
import Telemetry

extension ExitCode {
    /// `probe`: no relay answered, so nothing is known.
    package static let nothingKnown = ExitCode(2)
}

/// `probe NPUB`: checks once whether one account can be found and invited.
package struct KeyPackageProbeRun: Sendable {
    let request: KeyPackageProbeRequest
    let allowsPrivateAddresses: Bool
    let json: Bool

    /// - Parameters:
    ///   - allowsPrivateAddresses: Whether relays named only by the account's lists may have private addresses.
    ///   - json: Prints JSON instead of text.
    package init(_ request: KeyPackageProbeRequest, allowsPrivateAddresses: Bool = false, json: Bool) {
        self.request = request
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.json = json
    }

    /// Prints the result. Throws ``ArgumentParser/ExitCode`` 1 if the account cannot be found or invited as expected, and 2 if no
    /// relay answered.
    package func run() async throws {
        let logger = Logger(label: "probe") { _ in SwiftLogNoOpLogHandler() }
        let report = try await KeyPackageProbe.once(
            request, allowsPrivateAddresses: allowsPrivateAddresses, logger: logger)
        Console.printText(json ? report.json.prettyText : Self.text(report))
        guard report.hasAnswers else { throw ExitCode.nothingKnown }
        guard report.isSuccess else { throw ExitCode.failure }
    }

    private static func text(_ report: KeyPackageReport) -> String {
        ([report.account.npub] + report.lines.map { "  \($0)" }).map(\.terminalLine).joined(separator: "\n")
    }
}
