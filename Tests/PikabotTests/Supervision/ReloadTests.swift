import BotConfiguration
import Foundation
import LiveTesting
import Logging
import Supervisor
import Testing

@testable import BotProgram
@testable import pikabot

/// A reloader whose workers give scripted answers.
@Suite(.live)
struct ReloadTests {
    /// Answers each `reload` request with the next scripted reply, later with success, and logs the request.
    private static let worker = #"""
        import json, os, sys
        replies = json.loads(os.environ["REPLIES"])
        print('{"status":"ready"}', flush=True)
        for line in sys.stdin:
            question = json.loads(line)
            reply = {"result": {}}
            if question["ask"] == "reload":
                if replies: reply = replies.pop(0)
                print("reload", file=sys.stderr, flush=True)
            print(json.dumps({"answer": question["id"], **reply}), flush=True)
        """#

    private static func file(relay: String) -> String {
        let accounts = ["a", "b"].map { "  - { name: \($0), key: { file: test.key }, bots: [ { use: echo } ] }\n" }
        return "version: 1\nrelays: [\(relay)]\nstate: { directory: state }\naccounts:\n" + accounts.joined()
    }

    private struct Stage {
        let path: String
        let supervisor: Supervisor<ContinuousClock>
        let reloader: ConfigurationReloader

        func write(_ text: String) throws { try Data(text.utf8).write(to: URL(fileURLWithPath: path)) }

        func reload() async -> ControlValue? {
            if case .result(let value) = await reloader.reload() { value } else { nil }
        }

        func waiting(_ account: String) async -> [String]? {
            await supervisor.status.first { $0.name == account }?.needsRestart
        }
    }

    /// Runs workers a and b on a file with one relay until `body` returns; b gives these answers.
    private func staged(_ replies: String, _ body: (Stage) async throws -> Void) async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let path = directory + "/test.yaml"
            try SecretFile.writeNewKey(to: directory + "/test.key")
            try Data(Self.file(relay: "wss://one.example").utf8).write(to: URL(fileURLWithPath: path))
            let file = try ConfigurationFile(path: path, registry: .included)
            let workers = { @Sendable (file: ConfigurationFile) in
                file.configuration.accounts.map { account in
                    WorkerSpecification(
                        name: account.name, executable: "/usr/bin/env", arguments: ["python3", "-c", Self.worker],
                        environment: ["REPLIES": account.name == "b" ? replies : "[]"])
                }
            }
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let (ready, count) = AsyncStream.makeStream(of: Void.self)
            let supervisor = try Supervisor(
                workers: workers(file), clock: ContinuousClock(), generator: SystemRandomNumberGenerator(),
                logger: logger, writeDiagnostics: { _ in },
                observe: { if case .ready = $0 { count.yield() } })
            async let run: Void = supervisor.run()
            var iterator = ready.makeAsyncIterator()
            for _ in 0..<2 { await iterator.next() }
            let reloader = ConfigurationReloader(
                path: path, file: file, registry: .included, supervisor: supervisor, workers: workers, logger: logger)
            try await body(Stage(path: path, supervisor: supervisor, reloader: reloader))
            supervisor.drain()
            try await run
        }
    }

    @Test func partialRefusalFailsAndIsRetried() async throws {
        try await staged(#"[{"error":"not today"},{"error":"still not"}]"#) { stage in
            try stage.write(Self.file(relay: "wss://two.example"))
            var outcome = await stage.reload()
            #expect(outcome?["success"] == false)
            #expect(outcome?["refused"] == ["b: not today"])
            #expect(outcome?["applied"]?.array?.count == 1)
            #expect(await stage.reloader.status["lastReload"]?["success"] == false)
            #expect(await stage.waiting("a") == [])
            #expect(await stage.waiting("b") == ["last change: not today"])
            // Nothing has changed since, but b has not applied it yet.
            outcome = await stage.reload()
            #expect(outcome?["success"] == false && outcome?["refused"] == ["b: still not"])
            #expect(await stage.waiting("b") == ["last change: still not"])
            outcome = await stage.reload()
            #expect(outcome?["success"] == true && outcome?["refused"] == [])
            #expect(await stage.waiting("b") == [])
            // Workers that applied it were asked only once.
            #expect(stage.supervisor.log.newest(100, of: "a").filter { $0.text == "reload" }.count == 1)
        }
    }

    @Test func startingWorkerRestarts() async throws {
        try await staged(#"[{"result":{"phase":"starting"}}]"#) { stage in
            let before = await stage.supervisor.status.map(\.pid)
            try stage.write(Self.file(relay: "wss://two.example"))
            let outcome = await stage.reload()
            #expect(outcome?["success"] == true && outcome?["refused"] == [])
            var lines = stage.supervisor.log.follow(100, of: "b").makeAsyncIterator()
            while let line = await lines.next(), !line.text.contains("restarts in") {}
            #expect(await stage.supervisor.status.map(\.restarts) == [0, 1])
            #expect(await stage.supervisor.status.first?.pid == before.first)
        }
    }

    @Test func invalidFileChangesNothing() async throws {
        try await staged("[]") { stage in
            try stage.write(Self.file(relay: "wss://two.example") + "nonsense: 1\n")
            guard case .failure("wrongConfiguration", let message) = await stage.reloader.reload() else {
                Issue.record("expected the invalid file to be refused")
                return
            }
            #expect(message.contains("nonsense"))
            #expect(await stage.reloader.status["lastReload"]?["success"] == false)
            #expect(stage.supervisor.log.newest(100, of: "a").allSatisfy { $0.text != "reload" })
            // A later valid file is compared with the last valid one.
            try stage.write(Self.file(relay: "wss://two.example"))
            #expect(await stage.reload()?["applied"]?.array?.count == 1)
        }
    }

    @Test func reportsChangesThatNeedRestart() async throws {
        try await staged("[]") { stage in
            let text = Self.file(relay: "wss://one.example")
            let other = try #require(text.range(of: "bots: [ { use: echo } ]"))
            try stage.write(text.replacingCharacters(in: other, with: "bots: [ { use: echo, name: other } ]"))
            let outcome = await stage.reload()
            #expect(outcome?["success"] == true && outcome?["applied"] == [])
            #expect(outcome?["waiting"]?.array?.count == 1)
            #expect(await stage.waiting("a") == ["accounts[a].bots"])
            #expect(await stage.waiting("b") == [])
        }
    }
}
