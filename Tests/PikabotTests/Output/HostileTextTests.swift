import ArgumentParser
import BotConfiguration
import BotKit
import Diagnosis
import Foundation
import Logging
import Nostr
import PikaCore
import ProbeReports
import Testing

@testable import BotProgram
@testable import pikabot

/// Untrusted texts that would move a terminal's cursor, set colours or forge log lines.
@Suite struct HostileTextTests {
    private static let text = "a\u{1b}[2J\u{1b}]0;title\u{07}\n2026-01-01 error: forged\r\u{9b}31m\u{202e}b"
    private static let escaped =
        #"a\u001b[2J\u001b]0;title\u0007\n2026-01-01 error: forged\r\u009b31m\u202eb"#

    private struct Words: CustomStringConvertible, Sendable {
        let description: String
    }

    private struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Metadata values of every kind that contain the text.
    private static let fields: [Logger.Metadata.Value] = [
        .string(text), .stringConvertible(Words(description: text)), .array([.string("x"), .string(text)]),
        .dictionary(["inner": .string(text)]),
        .dictionary([text: .array([.stringConvertible(Words(description: text))])]),
        "\(Failure(description: text))", "\(AppCoreError(.refused, text))", "\(CommandError(text))",
    ]

    private static func line(
        _ message: Logger.Message, _ metadata: Logger.Metadata, own: Logger.Metadata = [:],
        as format: ObservationConfiguration.LogFormat = .text
    ) -> String {
        var log = StandardErrorLog(label: "test", format: format)
        log.metadata = own
        return log.line(
            of: LogEvent(
                level: .warning, message: message, metadata: metadata, source: "s", file: "f", function: "f", line: 1),
            at: Date(timeIntervalSince1970: 0))
    }

    private static func isOneCleanLine(_ line: String) -> Bool {
        line.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
    }

    @Test(arguments: fields)
    func textLogEscapesEveryField(value: Logger.Metadata.Value) {
        for line in [Self.line("m", ["reason": value]), Self.line("m", [:], own: ["reason": value])] {
            #expect(Self.isOneCleanLine(line) && line.contains("forged"))
            #expect(line.hasPrefix("1970-01-01T00:00:00.000Z warning test: m reason="))
        }
    }

    @Test func textLogEscapesMessageAndKeys() {
        let line = Self.line("\(Self.text)", [Self.text: "x"])
        #expect(line == "1970-01-01T00:00:00.000Z warning test: \(Self.escaped) \(Self.escaped)=x")
    }

    @Test(arguments: fields)
    func jsonLogKeepsText(value: Logger.Metadata.Value) throws {
        let line = Self.line("\(Self.text)", ["reason": value], as: .json)
        #expect(Self.isOneCleanLine(line))
        let json = try JSONValue(json: line)
        #expect(json["message"]?.string == Self.text && json["reason"]?.string == value.description)
    }

    @Test func commandErrorsAreOneLine() {
        for error in [
            CommandError(Self.text) as any Error, AppCoreError(.refused, Self.text), Failure(description: Self.text),
        ] {
            let failure = CommandFailure(error, of: Pikabot.self)
            #expect(failure.status == .failure)
            #expect(Self.isOneCleanLine(failure.text) && failure.text.contains(Self.escaped))
        }
        #expect(CommandFailure(ExitCode(79), of: Pikabot.self).text.isEmpty)
        let usage = CommandFailure(ValidationError(Self.text), of: Pikabot.self)
        #expect(usage.status == .validationFailure && !usage.text.contains("\u{1b}"))
    }

    @Test func viewsEscapeEveryText() throws {
        let text = JSONValue.string(Self.text)
        let status = StatusView(result: [
            "pid": 1, "uptime": 1,
            "workers": [
                [
                    "name": text, "state": "failed", "reason": text, "needsRestart": [text],
                    "worker": [
                        "programs": [["name": text, "state": text]],
                        "feeds": [["name": text, "kind": text, "state": text, "lastError": text]],
                    ],
                ], ["name": "b", "state": "failed", "lastExit": text],
            ],
            "configuration": [
                "lastReload": ["success": false, "problems": [text], "refused": [text]], "needsRestart": [text],
            ],
        ]).text
        let why = WhyView(["a": ["result": ["events": [1], "lines": [text]]], "b": ["error": text]], of: nil).text
        let refused = WhyView(["a": ["error": text]], of: nil).text
        let reload = ReloadView(result: ["applied": [text], "waiting": [text], "refused": [text]]).text
        let doctor = DoctorReport(
            file: "f", findings: [Finding(.error, subject: Self.text, check: Self.text, Self.text, advice: Self.text)]
        ).text
        var report = RelayProbeReport(try RelayURL("wss://relay.example"))
        report.phases = [.init(.write, .failed, .milliseconds(2), Self.text)]
        report.faults = [.init(.silentDrop, .write, .error, Self.text, advice: Self.text)]
        for (shown, lines) in [(status, 16), (why, 3), (refused, 1), (reload, 3), (doctor, 5), (report.text, 5)] {
            let found = shown.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(found.count == lines && found.allSatisfy { Self.isOneCleanLine(String($0)) }, "\(shown)")
            #expect(shown.contains(Self.escaped))
        }
    }
}
