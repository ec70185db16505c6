import Foundation
import LiveTesting
import Logging
import ServiceLifecycle
import Testing

@testable import Supervisor

@Suite(.live) struct ControlSocketTests {
    private func path() -> String { "/tmp/pikabot-control-\(UUID().uuidString.prefix(8))" }

    @Test func socketIsPrivateAndRemoved() throws {
        let path = path()
        let descriptor = try ControlSocket.bind(path)
        var status = stat()
        #expect(stat(path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        ControlSocket.removeUnlessLive(path)
        #expect(stat(path, &status) == 0, "the server must still listen")
        close(descriptor)
        ControlSocket.removeUnlessLive(path)
        #expect(stat(path, &status) != 0)
    }

    @Test func replacesOnlyStaleSocket() throws {
        let path = path()
        defer { unlink(path) }
        close(try ControlSocket.bind(path))
        let descriptor = try ControlSocket.bind(path)
        defer { close(descriptor) }
        // Refused with a free and with a full backlog; nothing accepts connections here.
        for _ in 0..<50 {
            #expect {
                try ControlSocket.bind(path)
            } throws: {
                let error = $0 as? SupervisorError
                return error?.code == .noControlSocket && error?.message.contains("another supervisor") == true
            }
        }
    }

    @Test func keepsOtherFiles() throws {
        let path = path()
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        defer { unlink(path) }
        #expect(throws: SupervisorError.self) { try ControlSocket.bind(path) }
        ControlSocket.removeUnlessLive(path)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test func explainsTooLongPath() {
        let path = "/tmp/" + String(repeating: "x", count: 120)
        #expect {
            try ControlSocket.bind(path)
        } throws: {
            ($0 as? SupervisorError)?.message.contains("expected at most 107 bytes for a socket path, found 125")
                == true
        }
    }

    @Test func onlyOwnerAndRootMayCommand() {
        #expect(PeerCredentials.mayCommand(1000, owner: 1000))
        #expect(PeerCredentials.mayCommand(0, owner: 1000))
        #expect(!PeerCredentials.mayCommand(1001, owner: 1000))
        #expect(!PeerCredentials.mayCommand(1000, owner: 0))
    }
}

@Suite(.live)
struct ControlServerTests {
    /// A supervisor with its control server, queried by a client in another process.
    private func withSupervisor(
        _ workers: [WorkerSpecification],
        _ body: (Harness<ContinuousClock>, _ ask: @escaping @Sendable ([String]) async throws -> [ControlValue])
            async throws -> Void
    ) async throws {
        let path = "/tmp/pikabot-control-\(UUID().uuidString.prefix(8))"
        let harness = try Harness(workers, quick, clock: ContinuousClock())
        let commands = ControlCommands(
            supervisor: harness.supervisor, process: 42, reload: { .result(["reloaded": true]) },
            details: { ["version": "test"] })
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let server = try ControlServer(path: path, logger: logger) { await commands.answer($0) }
        let group = ServiceGroup(
            configuration: .init(
                services: [
                    .init(service: server),
                    .init(service: harness.supervisor, successTerminationBehavior: .gracefullyShutdownGroup),
                ], logger: logger))
        async let run: Void = group.run()
        for _ in workers { try await harness.wait { if case .ready = $0 { () } else { nil } } }
        try await body(harness) { try await Self.client(path, $0) }
        await group.triggerGracefulShutdown()
        try await run
        #expect(access(path, F_OK) != 0)
    }

    /// Sends lines and returns the replies, one per line.
    private static func client(_ path: String, _ lines: [String]) async throws -> [ControlValue] {
        let script = #"""
            import socket, sys, time
            path, lines = sys.argv[1], sys.argv[2:]
            end = time.monotonic() + 20
            while True:
                connection = socket.socket(socket.AF_UNIX)
                try:
                    connection.connect(path); break
                except OSError:
                    if time.monotonic() > end: raise
                    time.sleep(0.01)
            connection.sendall("".join(line + "\n" for line in lines).encode())
            stream = connection.makefile()
            for _ in lines: sys.stdout.write(stream.readline())
            """#
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script, path] + lines
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let data = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: output.fileHandleForReading.readDataToEndOfFile())
            }
        }
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap {
            ControlValue(json: String($0))
        }
    }

    private let oracle = #"""
        import json, sys
        print('{"status":"ready"}', flush=True)
        print("hello from", sys.argv[0], file=sys.stderr, flush=True)
        for line in sys.stdin:
            ask = json.loads(line)
            answer = {"answer": ask["id"]}
            if ask["ask"] == "why": answer["result"] = {"event": ask["event"]}
            elif ask["ask"] == "status": answer["result"] = {"chats": 3}
            else: answer["error"] = "no " + ask["ask"]
            print(json.dumps(answer), flush=True)
        """#

    @Test func answersCommands() async throws {
        try await withSupervisor([python("a", oracle), python("b", oracle)]) { harness, ask in
            let answers = try await ask([
                #"{"command":"status"}"#, #"{"command":"why","event":"e","account":"a"}"#,
                #"{"command":"why","event":"e"}"#,
                #"{"command":"pause","account":"b"}"#, #"{"command":"reload"}"#,
                #"{"command":"logs","account":"a","lines":0}"#,
            ])
            try #require(answers.count == 6)
            let status = answers[0]["result"]
            #expect(status?["pid"] == 42)
            #expect(status?["version"] == "test")
            #expect(status?["workers"]?.array?.map { $0["name"] } == ["a", "b"])
            #expect(status?["workers"]?.array?.map { $0["state"] } == ["ready", "ready"])
            #expect(status?["workers"]?.array?.first?["worker"] == ["chats": 3])
            #expect(answers[1] == ["result": ["event": "e"]])
            #expect(answers[2] == ["result": ["a": ["result": ["event": "e"]], "b": ["result": ["event": "e"]]]])
            #expect(answers[3] == ["error": ["code": "refused", "message": "no pause"]])
            #expect(answers[4] == ["result": ["reloaded": true]])
            #expect(answers[5] == ["result": ["lines": []]])
        }
    }

    @Test(arguments: [
        "x", "{}", "[]", #"{"command":1}"#, #"{"command":"nonsense"}"#, #"{"command":"status","account":3}"#,
        #"{"command":"logs","lines":-1}"#, #"{"command":"logs","lines":1000000}"#, "",
    ])
    func refusesUnknownCommandAndContinues(line: String) async throws {
        try await withSupervisor([python("a", oracle)]) { _, ask in
            let answers = try await ask([line, #"{"command":"why","event":1,"account":"a"}"#])
            #expect(answers.first?["error"]?["code"] == "badRequest")
            #expect(answers.last == ["result": ["event": 1]])
        }
    }

    @Test func unknownAccountErrorListsKnownOnes() async throws {
        try await withSupervisor([python("a", oracle)]) { _, ask in
            for command in ["restart", "stop", "logs", "why"] {
                let answer = try await ask([#"{"command":"\#(command)","account":"z"}"#]).first
                #expect(
                    answer?["error"] == ["code": "unknownWorker", "message": "unknown account z; known accounts: a"])
            }
        }
    }

    @Test func restartsAndStopsOneAccount() async throws {
        try await withSupervisor([python("a", oracle), python("b", oracle)]) { harness, ask in
            #expect(try await ask([#"{"command":"restart","account":"a"}"#]) == [["result": ["accounts": ["a"]]]])
            try await harness.event(.restarting(worker: "a", after: .zero, .request))
            try await harness.event(.ready(worker: "a"))
            #expect(try await ask([#"{"command":"stop","account":"a"}"#]) == [["result": ["accounts": ["a"]]]])
            try await harness.event(.stopped(worker: "a"))
            let workers = await harness.supervisor.status
            #expect(workers.map(\.state) == ["stopped", "ready"])
            #expect(workers[0].restarts == 1)
        }
    }

    @Test func followersGetOldAndNewLines() async throws {
        try await withSupervisor([python("a", oracle)]) { harness, ask in
            // The script reads as many lines as it sends; the extra ones only make up the count.
            async let lines = ask([#"{"command":"logs","follow":true,"lines":2}"#, "", "", ""])
            // Followers receive later lines.
            try await eventually("somebody follows the log") { harness.supervisor.log.followers > 0 }
            try await harness.supervisor.restart("a")
            let texts = try await lines.compactMap { $0["text"]?.string }
            #expect(texts.count == 4)
            #expect(texts.contains { $0.hasPrefix("supervisor: ") })
        }
    }
}

@Suite(.bounded) struct WorkerLogTests {
    @Test func keepsNewestLinesPerWorker() {
        let log = WorkerLog(capacity: 3) { 5 }
        for number in 1...20 {
            log.add("a\(number)", of: "a")
            if number <= 2 { log.add("b\(number)", of: "b") }
        }
        #expect(log.newest(10, of: "a").map(\.text) == ["a18", "a19", "a20"])
        #expect(log.newest(10).map(\.text) == ["b1", "b2", "a18", "a19", "a20"])
        #expect(log.newest(1, of: "b") == [.init(number: 4, time: 5, worker: "b", text: "b2")])
        #expect(log.newest(10, of: "c") == [])
        #expect(log.newest(0) == [])
    }

    @Test func followersSeeEachLineOnce() async {
        let log = WorkerLog(capacity: 10) { 0 }
        log.add("1", of: "a")
        log.add("x", of: "b")
        let lines = log.follow(5, of: "a")
        log.add("2", of: "a")
        log.add("y", of: "b")
        log.add("3", of: "a")
        var seen: [String] = []
        for await line in lines {
            seen.append(line.text)
            if seen.count == 3 { break }
        }
        #expect(seen == ["1", "2", "3"])
    }

    @Test func truncatesLongLines() {
        let log = WorkerLog(capacity: 1) { 0 }
        log.add(String(repeating: "x", count: 100_000), of: "a")
        #expect(log.newest(1).first?.text.count == WorkerLog.longestLine)
    }
}
