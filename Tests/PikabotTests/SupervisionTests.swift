import ArgumentParser
import BotRuntime
import Errors
import Foundation
import Nostr
import PikaCore
import Storage
import Supervisor
import Testing

@testable import BotProgram

struct WorkerFailureTests {
    @Test func lockIsFinalAndNamesHolder() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("failure-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lock = try StateDirectoryLock(directory: folder, program: "one")
        do {
            _ = try StateDirectoryLock(directory: folder, program: "two")
            Issue.record("expected the second lock to be refused")
        } catch {
            let failure = WorkerFailure(error)
            #expect(failure.status == .stateInUse)
            #expect(failure.message.contains("in use by process \(getpid()) (one)"))
            #expect(WorkerLineReader.message(failure.line) == failure.message)
        }
        withExtendedLifetime(lock) {}
    }

    @Test(arguments: [
        (WorkerError.Code.unknownAccount, ExitCode.wrongConfiguration), (.unknownBot, .badBot), (.badSettings, .badBot),
        (.noKey, .noKey), (.signerRefused, .signerRefused), (.noStateDirectory, .temporaryFailure),
    ])
    func mapsErrorsToStatuses(code: WorkerError.Code, status: ExitCode) {
        #expect(WorkerFailure(WorkerError(code, "why")).status == status)
    }

    @Test func unknownErrorsAreRetried() {
        #expect(WorkerFailure(CancellationError()).status == .failure)
    }

    /// Waiting statuses are not final, and every final status has its own text.
    @Test func finalAndWaitingStatusesAreDisjoint() {
        #expect(ExitCode.finalStatuses[ExitCode.temporaryFailure.rawValue] == nil)
        #expect(ExitCode.finalStatuses[ExitCode.failure.rawValue] == nil)
        #expect(Set(ExitCode.finalStatuses.values).count == ExitCode.finalStatuses.count)
        #expect(ExitCode.finalStatuses.keys.sorted() == [78, 79, 80, 81, 82, 83, 84])
    }

    /// The service manager does not restart after final statuses; a locked state directory may become free.
    @Test(arguments: ["pikabot.service", "pikabot@.service", "pikabot-shard@.service"])
    func unitsListFinalStatuses(unit: String) throws {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: repository.appendingPathComponent("config/\(unit)"), encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RestartPreventExitStatus=") })
        let statuses = Set(line.drop { $0 != "=" }.dropFirst().split(separator: " ").compactMap { Int32($0) })
        let final = Set(ExitCode.finalStatuses.keys).subtracting([ExitCode.stateInUse.rawValue])
        #expect(statuses == final.union([ExitCode.validationFailure.rawValue]))
    }
}

private enum WorkerLineReader {
    static func message(_ line: String) -> String? {
        let value = try? JSONValue(json: line)
        return value?["status"] == "failed" ? value?["message"]?.string : nil
    }
}

struct WorkerGreetingTests {
    private func reading(_ text: String) throws -> (WorkerGreeting, String) {
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try pipe.fileHandleForWriting.close()
        let greeting = try WorkerGreeting.read(from: pipe.fileHandleForReading.fileDescriptor)
        let rest = pipe.fileHandleForReading.readDataToEndOfFile()
        return (greeting, String(decoding: rest, as: UTF8.self))
    }

    @Test func readsExactlyOneLine() throws {
        let line = #"{"configuration":"version: 1\n# é","stateDirectory":"/state"}"#
        let (greeting, rest) = try reading(line + "\n{\"ask\":\"health\"}\n")
        #expect(greeting.configuration == "version: 1\n# é")
        #expect(greeting.stateDirectory == "/state")
        #expect(greeting.line == line)
        #expect(rest == "{\"ask\":\"health\"}\n")
    }

    @Test(arguments: [
        "", "\n", "{}\n", "x\n", #"{"configuration":"a"}"# + "\n", #"{"configuration":"a","stateDirectory":"#,
    ])
    func refusesOtherInput(text: String) {
        #expect(throws: (any Error).self) { try reading(text) }
    }
}

struct StatusViewTests {
    private let status: JSONValue = [
        "pid": 7, "uptime": 93_784,
        "workers": [
            [
                "name": "a", "state": "ready", "pid": 8, "age": 61, "restarts": 2, "lastExit": "signal 9",
                "reason": nil,
                "needsRestart": ["accounts[a].key"],
                "worker": [
                    "relays": [["connected": true], ["connected": false]], "chats": 3, "outbox": 0,
                    "programs": [
                        ["name": "scribe", "state": "running", "age": 61, "restarts": 1, "waiting": 12],
                        ["name": "poll", "state": "waiting", "age": nil, "restarts": 0, "waiting": 0],
                    ],
                    "feeds": [
                        [
                            "name": "orders", "kind": "webhook", "state": "connected", "age": 61, "lastItemAge": 5,
                            "stored": 12, "duplicates": 1, "errors": 2, "lastError": nil,
                        ]
                    ],
                ],
            ],
            [
                "name": "bot-two", "state": "quarantined", "pid": nil, "age": nil, "restarts": 0,
                "lastExit": "exit status 80", "reason": "no_key: account bot-two has no key", "needsRestart": [],
            ],
        ],
        "configuration": [
            "file": "bots.yaml", "needsRestart": ["state.directory"],
            "lastReload": ["success": false, "time": 1, "problems": ["bots.yaml:3:1: expected a key"]],
        ],
    ]

    @Test func showsCompleteStatus() {
        let view = StatusView(result: status)
        #expect(!view.isGood)
        #expect(
            view.text == """
                process 7, up 1d 2h
                ACCOUNT  STATE        PROCESS  UP       RESTARTS  RELAYS  CHATS  OUTBOX
                a        ready        8        1min 1s  2         1 of 2  3      0
                bot-two  quarantined  -        -        0         -       -      -
                ACCOUNT  PROGRAM  STATE    UP       RESTARTS  EVENTS WAITING
                a        scribe   running  1min 1s  1         12
                a        poll     waiting  -        0         0
                ACCOUNT  FEED    KIND     STATE      FOR      LAST ITEM  STORED  ERRORS  LAST ERROR
                a        orders  webhook  connected  1min 1s  5s         12      2       -
                a: changes that need a restart of the account: accounts[a].key
                bot-two: no_key: account bot-two has no key
                The file is invalid and was not applied; the previous configuration stays in effect:
                  bots.yaml:3:1: expected a key
                Changes that need a restart of the supervisor: state.directory
                """)
    }

    @Test(
        arguments: [(0, "0s"), (59, "59s"), (60, "1min 0s"), (3661, "1h 1min"), (90_000, "1d 1h")] as [(Int64, String)])
    func parsesDurations(seconds: Int64, text: String) {
        #expect(StatusView.duration(seconds) == text)
    }

    @Test func readyAccountsAreSuccess() {
        #expect(StatusView(result: ["workers": [["name": "a", "state": "ready"]]]).isGood)
    }

    @Test func endedAccountIsSuccess() {
        let ready: JSONValue = ["name": "a", "state": "ready", "expected": true]
        func status(_ expected: Bool) -> JSONValue {
            ["workers": [ready, ["name": "b", "state": "finished", "expected": .bool(expected)]]]
        }
        #expect(StatusView(result: status(false)).isGood)
        #expect(!StatusView(result: status(true)).isGood)
    }

    @Test func partiallyRefusedReloadFails() {
        let reload: JSONValue = [
            "success": false, "time": 1, "applied": ["observe.level: info, now debug"], "waiting": [],
            "refused": ["b: it is busy"],
        ]
        #expect(ReloadView(result: reload).text == "now: observe.level: info, now debug\nrefused: b: it is busy")
        #expect(!ReloadView(result: reload).isGood)
        #expect(ReloadView(result: ["success": true]).text == "no changes")
        #expect(ReloadView(result: ["success": true]).isGood)
        let view = StatusView(result: ["pid": 1, "uptime": 0, "workers": [], "configuration": ["lastReload": reload]])
        #expect(view.text.hasSuffix("Accounts that rejected the last changes:\n  b: it is busy"))
    }
}
