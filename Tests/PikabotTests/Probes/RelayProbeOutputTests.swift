import ArgumentParser
import BotKit
import Nostr
import ProbeReports
import Testing

@testable import BotProgram
@testable import pikabot

/// Arguments and output of `pikabot probe wss://…`.
struct RelayProbeOutputTests {
    private var report: RelayProbeReport {
        get throws {
            var report = RelayProbeReport(try RelayURL("wss://relay.example"))
            report.phases = [
                .init(.dns, .passed, .milliseconds(2), "192.0.2.1"), .init(.tls, .skipped, .zero, "ws:// has none"),
                .init(.readback, .failed, .milliseconds(612), "not returned"),
                .init(.since, .unreached, .zero, "no event was accepted"),
            ]
            report.faults = [
                .init(.silentDrop, .readback, .error, "loses events", advice: "use another relay"),
                .init(.sizeLimit, .size, .warning, "refuses large events", advice: "write small events"),
                .init(.authRequired, .auth, .note, "requires a login", advice: "log in"),
            ]
            report.duration = .milliseconds(700)
            report.isReadBack = false
            return report
        }
    }

    @Test func printsTableAndVerdict() throws {
        #expect(
            try report.text == """
                wss://relay.example

                  dns       ok       2 ms      192.0.2.1
                  tls       skipped            ws:// has none
                  readback  FAILED   612 ms    not returned
                  since     -                  no event was accepted

                Not fit for encrypted groups: it loses events. It also refuses large events. It requires a login. \
                Use another relay.
                """)
    }

    @Test func printsCompleteJSON() throws {
        let json = try report.json
        #expect(json["good"] == .bool(false))
        #expect(json["reachable"] == .bool(true))
        #expect(json["milliseconds"] == 700)
        #expect(json["readBack"] == .bool(false))
        #expect(json["certificateEnd"] == nil)
        #expect(json["phases"]?.array?.count == 4)
        #expect(
            json["faults"]?.array?.first == [
                "fault": "silent_drop", "phase": "readback", "weight": "error", "text": "loses events",
                "advice": "use another relay",
            ])
    }

    @Test(arguments: [
        ["https://relay.example"], ["relay.example"], [""], ["wss://relay.example", "--patience", "0"],
        ["wss://relay.example", "--patience", "301"],
    ])
    func refusesWrongUsage(arguments: [String]) {
        #expect(throws: (any Error).self) { _ = try Pikabot.ProbeCommand.parse(arguments) }
    }

    @Test func parsesUsage() throws {
        let command = try Pikabot.ProbeCommand.parse([
            "ws://127.0.0.1:7777", "--read-only", "--trust", "a.pem", "--trust", "b.pem", "--json",
        ])
        #expect(command.readOnly && command.json)
        #expect(command.trust == ["a.pem", "b.pem"])
        #expect(command.patience == nil)
    }
}
