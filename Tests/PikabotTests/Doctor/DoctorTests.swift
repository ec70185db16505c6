import ArgumentParser
import BotConfiguration
import Diagnosis
import EmbeddedRelay
import Foundation
import LiveTesting
import Logging
import Nostr
import PikaCore
import Storage
import Testing

@testable import BotProgram
@testable import BotRuntime
@testable import pikabot

@Suite(.live) struct DoctorTests {
    private func examine(_ file: String, limit: Duration = .seconds(20)) async throws -> [Finding] {
        let configuration = try Configuration.load(path: file, registry: .included)
        return try await Examination(
            configuration: configuration, environment: ["PATH": "/usr/bin:/bin"], limit: limit,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        ).run()
    }

    private func write(_ text: String, in directory: String, relay: String) throws -> String {
        let file = directory + "/test.yaml"
        try Data("version: 1\nrelays: [\(relay)]\nstate: { directory: state }\n\(text)\n".utf8)
            .write(to: URL(fileURLWithPath: file))
        return file
    }

    private static let account = """
        accounts:
          - name: echo
            key: { file: secrets/echo.key }
            invites: { accept: anyone }
            bots: [ { use: echo } ]
        """

    @Test func soundInstallationHasNoFindings() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            try await withEmbeddedRelay { _, address in
                try SecretFile.writeNewKey(to: directory + "/secrets/echo.key")
                let file = try self.write(Self.account, in: directory, relay: address)
                let findings = try await self.examine(file)
                #expect(findings.filter { $0.level == .error } == [])
                #expect(findings.contains { $0.check == "published" && $0.text.hasPrefix("nothing published yet") })
                #expect(findings.contains { $0.check == "state" && $0.text.hasSuffix("created at the first start") })
                // Nothing was created or changed.
                #expect(!FileManager.default.fileExists(atPath: directory + "/state"))
            }
        }
    }

    @Test func reportsLocalErrorsWithoutNetwork() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let text = """
                accounts:
                  - name: echo
                    key: { file: secrets/echo.key }
                    bots:
                      - use: echo
                      - command: [no-such-program]
                      - { command: [sh, missing.sh], name: script }
                      - { command: [sh, -c, "exit 0"], name: fine }
                """
            try SecretFile.writeNewKey(to: directory + "/secrets/echo.key")
            chmod(directory + "/secrets/echo.key", 0o644)
            let file = try self.write(text, in: directory, relay: "ws://relay.invalid")
            let findings = try await self.examine(file, limit: .seconds(3))
            func level(_ check: String) -> Finding.Level? { findings.first { $0.check == check }?.level }
            #expect(level("key") == .error)
            #expect(level("program no-such-program") == .error)
            #expect(level("program script") == .error)
            #expect(level("program fine") == .ok)
            #expect(level("name") == .error)
            #expect(findings.allSatisfy { ($0.advice == nil) == ($0.level == .ok) })
        }
    }

    @Test func checksState() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let state = directory + "/state"
            func levels() -> [String: Finding.Level] {
                Dictionary(StateFindings(directory: state).run(subject: "a").map { ($0.check, $0.level) }) { $1 }
            }
            #expect(levels()["state"] == .ok)
            try Data().write(to: URL(fileURLWithPath: state))
            #expect(levels() == ["state": .error])
            try FileManager.default.removeItem(atPath: state)
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
            #expect(levels()["state"] == .warning)
            chmod(state, 0o700)
            #expect(levels()["state"] == .ok && levels()["sealing key"] == nil)
            try Data().write(to: URL(fileURLWithPath: state + "/state.sqlite"))
            #expect(levels()["sealing key"] == .error)
            _ = try SealingKey.loadOrCreate(file: state + "/sealing.key")
            #expect(levels()["sealing key"] == .ok)
            let lock = try StateDirectoryLock(directory: state, program: "test")
            let finding = StateFindings(directory: state).run(subject: "a").first { $0.check == "lock" }
            let text = finding?.text ?? ""
            #expect(text.hasPrefix("process \(getpid()) (test) on ") && text.hasSuffix(") uses \(state)"))
            lock.release()
            #expect(StateDirectoryLock.holder(of: state) == nil)
        }
    }

    @Test func reportsQuarantine() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let state = directory + "/state"
            try FileManager.default.createDirectory(
                atPath: state, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let key = try SealingKey.loadOrCreate(file: state + "/sealing.key")
            func finding() -> Finding? {
                StateFindings(directory: state).run(subject: "a").first { $0.check == "quarantine" }
            }
            #expect(finding()?.level == .ok)
            // Two processes crash in the same pass.
            let page = URL(fileURLWithPath: state + "/core-in-hand")
            var inFlight = Data()
            for _ in 0..<2 {
                let store = try AccountStore.open(directory: state, sealingKey: key)
                let relay = try RelayURL("wss://relay.example")
                _ = store.crashes.begin(frame: Array("{deadly}".utf8), from: relay)
                inFlight = try Data(contentsOf: page)
                try store.close()
                try inFlight.write(to: page)
            }
            try AccountStore.open(directory: state, sealingKey: key).close()
            #expect(finding()?.level == .warning)
            #expect(finding()?.text.hasSuffix("of relay/wss://relay.example, after 2 crashes (decode)") == true)
            try Data("x".utf8).write(to: URL(fileURLWithPath: state + "/quarantine"))
            #expect(finding()?.level == .error)
        }
    }

    @Test func exitsWithConfigurationStatusIfFileIsInvalid() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let file = try self.write("acounts: []", in: directory, relay: "wss://relay.example")
            let command = try BotProgram.DoctorCommand.parse([file, "--json"])
            await #expect(throws: ExitCode.wrongConfiguration) { try await command.run() }
        }
    }

    @Test func boundsPatience() {
        for value in ["0", "301", "-1", "x"] {
            #expect(throws: (any Error).self) { try BotProgram.DoctorCommand.parse(["file", "--patience", value]) }
        }
    }

    @Test func groupsAndCountsFindings() {
        let findings = [
            Finding(.ok, subject: "a", check: "x", "fine"),
            Finding(.warning, subject: "a", check: "y", "odd", advice: "look"),
            Finding(.error, subject: "b", check: "z", "bad", advice: "mend it"),
        ]
        let report = DoctorReport(file: "f.yaml", findings: findings)
        #expect(
            report.text == """
                a
                  ok       x: fine
                  warning  y: odd
                             -> look
                b
                  ERROR    z: bad
                             -> mend it

                1 error, 1 warning; 3 checks in total.
                """)
        #expect(
            report.json.jsonText == """
                {"file":"f.yaml","errors":1,"warnings":1,"findings":[\
                {"level":"ok","subject":"a","check":"x","text":"fine"},\
                {"level":"warning","subject":"a","check":"y","text":"odd","advice":"look"},\
                {"level":"error","subject":"b","check":"z","text":"bad","advice":"mend it"}]}
                """)
        let well = DoctorReport(file: "f.yaml", findings: [findings[0]])
        #expect(well.text.hasSuffix("\n\nNo problems found in 1 check."))
    }
}
