import BotDispatch
import BotKit
import BotTesting
import EchoBot
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Telemetry
import Testing

@testable import BotRuntime

/// A complete running account, and everything its process would export.
@Suite(.live)
struct MetricLeakTests {
    /// Throws errors that contain the message's text; metrics may only show their type.
    private struct MoodyBot: Bot {
        struct BadMood: Error { let text: String }

        static let name = "moody"
        init(settings: BotSettings) {}
        var handlers: [Handler] {
            OnMessage { message, context in
                context.recordFailure(BotError(.addressRefused, message.content))
                throw BadMood(text: message.content)
            }
        }
    }

    private struct Account: Sendable {
        let core: AppCore
        let pool: RelayPool

        init(_ relay: RelayURL, _ logger: Logger) throws {
            var random = SystemRandomNumberGenerator()
            pool = try RelayPool(addresses: .unrestricted, logger: logger)
            core = AppCore(
                account: KeyPair.generate(using: &random),
                configuration: CoreConfiguration(relays: [relay], invites: .anyone),
                ports: CorePorts(
                    transport: pool, store: MemoryCoreStore(), clock: SystemClock(), logger: logger))
        }

        func first<Value>(_ find: (AppState) -> Value?) async throws -> Value {
            for await case .fullState(let state) in core.updates() {
                if let value = find(state) { return value }
            }
            throw CancellationError()
        }
    }

    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let content = "meet me at the old bridge"

    private func withAlice(
        _ body: @escaping @Sendable (Account, Account, WorkerHealth) async throws -> Void
    ) async throws {
        try await withEmbeddedRelay { _, address in
            let relay = try RelayURL(address)
            let registry = ProcessRegistry.shared
            let (alice, bob) = (try Account(relay, logger), try Account(relay, logger))
            let dispatcher = BotDispatcher(
                bots: [
                    InstalledBot(try EchoBot(settings: .object([:])), label: "echo"),
                    InstalledBot(MoodyBot(settings: .object([:])), label: "moody"),
                ], core: bob.core, clock: SystemClock(), configuration: .init(accountName: "bob"), logger: logger)
            let (canaryResults, relays) = (CanaryResults(), ConfiguredRelays([relay]))
            let health = WorkerHealth(
                core: bob.core, examination: HealthExamination(relays: relays, canary: (3_600_000, 60_000)),
                canaryResults: canaryResults, registry: registry, clock: SystemClock(),
                isDispatching: dispatcher.isResponsive,
                hanging: { dispatcher.hangingHandlers })
            let canaries = CanaryService(
                relays: relays, interval: .seconds(3600), budget: .seconds(60), transport: bob.pool,
                clock: SystemClock(), canaryResults: canaryResults, generator: SystemRandomNumberGenerator(),
                logger: logger)
            try await withThrowingDiscardingTaskGroup { group in
                for account in [alice, bob] {
                    group.addTask { try await account.pool.run() }
                    group.addTask { try await account.core.run() }
                }
                group.addTask {
                    for await event in alice.core.events { alice.core.complete(event.inboxID, effects: []) }
                }
                group.addTask { try? await dispatcher.run() }
                group.addTask { await health.run() }
                group.addTask { try await canaries.run() }
                try await body(alice, bob, health)
                group.cancelAll()
            }
        }
    }

    @Test func labelsLeakNothing() async throws {
        let content = content
        try await withAlice { alice, bob, health in
            for account in [alice, bob] { _ = try await account.first { $0.hasPublishedKeyPackage ? true : nil } }
            alice.core.dispatch(.createGroupChat(name: "the quiet ones", peers: [bob.core.account]))
            let chat = try await bob.first { $0.chatList.first?.chatID }
            _ = try await alice.first { $0.chatList.contains { $0.chatID == chat } ? true : nil }
            alice.core.dispatch(.openChat(chatID: chat))
            alice.core.dispatch(.sendMessage(chatID: chat, OutgoingMessage(content: content)))
            let messages = try await alice.first { state -> [AppState.ChatMessage]? in
                let messages = state.currentChat.map { Array($0.messages) } ?? []
                return messages.contains { $0.content == "echo: \(content)" } ? messages : nil
            }
            let families = await health.metrics()
            var secrets = [chat.rawValue, content, "the quiet ones", "bridge"]
            for key in [alice.core.account, bob.core.account] {
                secrets += [key.hex, key.npub, String(key.hex.prefix(8))]
            }
            secrets += messages.map(\.id.hex)
            Self.expectNothing(of: secrets, in: families)
            Self.expectWork(in: families)
        }
    }

    private static func expectNothing(of secrets: [String], in families: [MetricFamily]) {
        for family in families {
            for label in family.series.flatMap(\.labels) {
                #expect(LabelGuard.admits(label.value), "\(family.name) \(label.name)")
                let leaked = secrets.filter { label.value.lowercased().contains($0.lowercased()) }
                #expect(leaked.isEmpty, "\(family.name) \(label.name)")
            }
        }
    }

    private static func expectWork(in families: [MetricFamily]) {
        #expect(sum("bot_events_received_total", families, "type", "message") ?? 0 >= 1)
        #expect(sum("bot_events_received_total", families, "type", "joined") ?? 0 >= 1)
        #expect(sum("bot_sends_total", families, "result", "accepted") ?? 0 >= 1)
        #expect(sum("bot_handler_errors_total", families, "class", "BadMood") ?? 0 >= 1)
        #expect(sum("bot_handler_errors_total", families, "class", "address_refused") ?? 0 >= 1)
        #expect(sum("bot_groups", families) == 1)
        #expect(sum("bot_groups_halted", families) == 0)
        #expect(sum("bot_info", families, "version", SoftwareVersion.current) == 1)
        let names = Set(families.map(\.name))
        for name in [
            "bot_ready", "bot_state_revision", "bot_relay_connected", "bot_relay_reconnects_total",
            "bot_last_event_timestamp_seconds", "bot_events_duplicate_total", "bot_handler_duration_seconds",
            "bot_handler_timeouts_total", "bot_inbox_depth", "bot_inbox_oldest_age_seconds", "bot_outbox_depth",
            "bot_outbox_oldest_age_seconds", "bot_publish_duration_seconds", "bot_gap_seconds_total",
            "bot_dead_letters", "bot_check_passed", "bot_canary_roundtrip_seconds", "process_cpu_seconds_total",
        ] {
            #expect(names.contains(name), "\(name)")
        }
    }

    private static func sum(
        _ name: String, _ families: [MetricFamily], _ label: String? = nil, _ value: String? = nil
    ) -> Double? {
        families.first { $0.name == name }?.series
            .filter { series in label.map { series.labels.contains(.init($0, value ?? "")) } ?? true }
            .map(\.value).reduce(0, +)
    }
}

/// The registry of the test process; other tests may write to it concurrently.
enum ProcessRegistry {
    static let shared = MetricRegistry.bootstrap()
}
