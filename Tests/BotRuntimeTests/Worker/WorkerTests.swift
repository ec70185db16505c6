import BotKit
import EchoBot
import Logging
import Testing

@testable import BotRuntime

struct WorkerTests {
    private func worker(
        account: String = "a", bots: String = "[ { use: echo } ]", key: String = "{ env: KEY }",
        environment: [String: String] = [:]
    ) throws -> Worker {
        let configuration = try Configuration.parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts: [ { name: a, key: \(key), bots: \(bots) } ]
            """, file: "bot.yaml", folder: "/nonexistent", knownBots: ["echo", "other"])
        return try Worker(
            account: account, configuration: configuration, registry: BotRegistry(EchoBot.self),
            environment: environment, output: { _ in },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func refusesUnknownAccountsAndBots() {
        #expect(
            #expect(throws: WorkerError.self) { try worker(account: "b") }?.description
                == "unknown_account: no account is named b; there are a")
        #expect(
            #expect(throws: WorkerError.self) { try worker(bots: "[ { use: other } ]") }?.code == .unknownBot)
    }

    @Test func endsBeforeItTouchesAnythingWithoutAKey() async throws {
        let worker = try worker()
        let error = await #expect(throws: WorkerError.self) { try await worker.run() }
        #expect(error?.description == "no_key: account a has no key (environment variable KEY is not set)")
    }
}
