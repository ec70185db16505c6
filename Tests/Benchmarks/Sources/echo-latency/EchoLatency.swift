import EmbeddedRelay
import Foundation
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Storage

/// Measures the end-to-end latency of an answer, from a guest's send to the bot's answer as decrypted by the guest.
///
/// Two accounts with durable stores (`synchronous=FULL`), two relay connections, one relay with a database file: all on
/// this machine, over loopback. Prints Markdown.
@main
enum EchoLatency {
    static func main() async throws {
        let arguments = CommandLine.arguments
        let count = arguments.count > 1 ? Int(arguments[1]) ?? 500 : 500
        // Off the main thread, because switching from it to other threads costs more than the work.
        try await Task.detached { try await Self.measure(count) }.value
    }

    static func measure(_ count: Int) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("echo-latency-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var relay = RelayConfiguration()
        relay.port = 0
        relay.storage = .file(folder.appendingPathComponent("relay.sqlite").path)
        try await withEmbeddedRelay(configuration: relay) { _, address in
            let bot = try Account("bot", folder: folder, relay: RelayURL(address))
            let guest = try Account("guest", folder: folder, relay: RelayURL(address))
            try await withThrowingTaskGroup(of: Void.self) { group in
                for account in [bot, guest] {
                    group.addTask { try await account.pool.run() }
                    group.addTask { try await account.core.run() }
                }
                group.addTask { await bot.echo() }
                try await Self.converse(guest, bot, count)
                group.cancelAll()
            }
        }
    }

    private static func converse(_ guest: Account, _ bot: Account, _ count: Int) async throws {
        for account in [bot, guest] { await account.untilPublished() }
        let chatID = try await guest.createGroup(with: bot.core.account)
        var answers = guest.core.events.makeAsyncIterator()
        let clock = ContinuousClock()
        var latencies: [Double] = []
        for number in 0..<count + 20 {
            let text = "message \(number)"
            let start = clock.now
            guest.core.dispatch(.sendMessage(chatID: chatID, .text(text)))
            try await Self.wait(for: [text], &answers, guest)
            // The first messages are not measured: they warm up caches and connections.
            if number >= 20 { latencies.append(Double((clock.now - start) / .microseconds(1))) }
        }
        latencies.sort()
        let start = clock.now
        for number in 0..<count { guest.core.dispatch(.sendMessage(chatID: chatID, .text("burst \(number)"))) }
        try await Self.wait(for: Set((0..<count).map { "burst \($0)" }), &answers, guest)
        let burst = clock.now - start
        func percentile(_ share: Double) -> String {
            String(format: "%.2f ms", latencies[min(latencies.count - 1, Int(Double(latencies.count) * share))] / 1000)
        }
        print("| end to end over the embedded relay, \(count) messages | |\n|---|---|")
        print("| latency, one at a time, median | \(percentile(0.5)) |")
        print("| p90 | \(percentile(0.9)) |")
        print("| p99 | \(percentile(0.99)) |")
        let rate = Double(count) / (Double(burst.components.seconds) + Double(burst.components.attoseconds) / 1e18)
        print("| answered per second, all sent at once | \(Int(rate)) |")
    }

    /// Completes events until all of these texts have been answered, in any order.
    private static func wait(
        for texts: Set<String>, _ answers: inout AsyncStream<CoreEvent>.Iterator, _ guest: Account
    ) async throws {
        var missing = Set(texts.map { "echo: \($0)" })
        while let event = await answers.next(isolation: nil) {
            guest.core.complete(event.inboxID, effects: [])
            if case .message(let message) = event.content { missing.remove(message.content) }
            if missing.isEmpty { return }
        }
        throw CancellationError()
    }
}

/// One account with its store, relay pool and core.
private struct Account: Sendable {
    let pool: RelayPool
    let core: AppCore

    init(_ name: String, folder: URL, relay: RelayURL) throws {
        var logger = Logger(label: name)
        logger.logLevel = .error
        let directory = folder.appendingPathComponent(name).path
        let store = try AccountStore.open(directory: directory, sealingKey: .random())
        var generator = SystemRandomNumberGenerator()
        self.pool = try RelayPool(addresses: .unrestricted, logger: logger)
        self.core = AppCore(
            account: KeyPair.generate(using: &generator),
            configuration: CoreConfiguration(relays: [relay], invites: .anyone),
            ports: CorePorts(transport: self.pool, store: store, clock: SystemClock(), logger: logger))
    }

    func untilPublished() async {
        for await update in self.core.updates() {
            if case .fullState(let state) = update, state.hasPublishedKeyPackage { return }
        }
    }

    func createGroup(with peer: PublicKey) async throws -> ChatID {
        let request = RequestID(rawValue: "create")
        let updates = self.core.updates()
        self.core.dispatch(.createGroupChat(name: "latency", peers: [peer]), request: request)
        for await update in updates {
            guard case .finished(_, request, let outcome) = update else { continue }
            if case .done(let chatID?) = outcome { return chatID }
            throw AppCoreError(.notAllowed, "\(outcome)")
        }
        throw CancellationError()
    }

    func echo() async {
        for await event in self.core.events {
            var effects: [HandlerEffect] = []
            if case .message(let message) = event.content {
                effects = [
                    HandlerEffect(
                        id: "echo/\(message.id.hex)/0",
                        operation: .send(
                            chatID: event.chatID, .text("echo: \(message.content)", replyingTo: message)))
                ]
            }
            self.core.complete(event.inboxID, effects: effects)
        }
    }
}
