import BotConfiguration
import BotKit
import BotTesting
import EchoBot
import Errors
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Synchronization
import Testing

@testable import BotDispatch
@testable import BotRuntime

@Suite(.live) struct WorkerTests {
    private func worker(
        account: String = "a", bots: String = "[ { use: echo } ]", key: String = "{ env: KEY }",
        environment: [String: String] = [:], options: WorkerOptions = WorkerOptions()
    ) throws -> Worker {
        let configuration = try Configuration.parse(
            """
            version: 1
            relays: [wss://relay.example]
            accounts: [ { name: a, key: \(key), bots: \(bots) } ]
            """, file: "bot.yaml", folder: "/nonexistent", knownBots: ["echo", "other"])
        return try Worker(
            account: account, configuration: configuration, registry: BotRegistry(EchoBot.self), options: options,
            environment: environment, output: { _ in },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    @Test func refusesUnknownAccountsAndBots() {
        #expect(
            #expect(throws: WorkerError.self) { try worker(account: "b") }?.description
                == "unknown_account: unknown account b; known accounts: a")
        #expect(
            #expect(throws: WorkerError.self) { try worker(bots: "[ { use: other } ]") }?.code == .unknownBot)
    }

    /// Process-wide changes come last, after every step that may be refused.
    @Test(arguments: ["b", "a"])
    func refusedReloadChangesNothing(of account: String) async throws {
        let applied = Mutex(0)
        var options = WorkerOptions()
        options.apply = { _ in applied.withLock { $0 += 1 } }
        options.reload = { _ in
            try Configuration.parse(
                """
                version: 1
                relays: [wss://other.example]
                accounts: [ { name: \(account), key: { env: KEY }, bots: [ { use: echo, triggers: nobody } ] } ]
                """, file: "bot.yaml", folder: "/nonexistent", knownBots: ["echo"])
        }
        let worker = try worker(options: options)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var generator = SeededGenerator(seed: 1)
        let clock = ManualClock()
        let core = AppCore(
            account: KeyPair.generate(using: &generator), configuration: CoreConfiguration(relays: []),
            ports: CorePorts(
                transport: try RelayPool(addresses: .unrestricted, logger: logger), store: MemoryCoreStore(),
                clock: clock, logger: logger))
        // An ended core refuses every change.
        let run = Task { try await core.run() }
        run.cancel()
        _ = await run.result
        let dispatcher = BotDispatcher(
            bots: worker.bots, core: core, clock: clock, configuration: .init(accountName: "a"), logger: logger)
        await #expect(throws: WorkerRefusal.self) {
            try await worker.reload(.null, core, dispatcher, Admission(operators: []))
        }
        #expect(applied.withLock { $0 } == 0)
        #expect(dispatcher.roster.bots.map(\.policy.triggers) == [.members])
        #expect(worker.relays.current.map(\.string) == ["wss://relay.example"])
    }

    @Test func endsWithoutKeyBeforeAnyChange() async throws {
        let worker = try worker()
        let error = await #expect(throws: WorkerError.self) { try await worker.run() }
        #expect(error?.description == "no_key: account a has no key (environment variable KEY is not set)")
    }
}
