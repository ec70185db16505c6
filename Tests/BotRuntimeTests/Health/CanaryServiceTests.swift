import BotTesting
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import Testing

@testable import BotRuntime

/// Canaries through a real relay and real connections.
@Suite(.live)
struct CanaryServiceTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func testsNewRelayAfterReload() async throws {
        try await withEmbeddedRelay { _, first in
            try await withEmbeddedRelay { _, second in
                let (one, two) = (try RelayURL(first), try RelayURL(second))
                let pool = try RelayPool(addresses: .unrestricted, logger: logger)
                await pool.setRelays([one, two])
                let relays = ConfiguredRelays([one])
                let service = CanaryService(
                    relays: relays, interval: .seconds(3600), budget: .seconds(60), transport: pool,
                    clock: SystemClock(), canaryResults: CanaryResults(), generator: SystemRandomNumberGenerator(),
                    logger: logger)
                let (before, after) = (service.canaryResults.outcomes(of: one), service.canaryResults.outcomes(of: two))
                try await withThrowingDiscardingTaskGroup { group in
                    group.addTask { try await pool.run() }
                    group.addTask { try await service.run() }
                    for await _ in before { break }
                    #expect(service.canaryResults[two] == nil)
                    relays.set([two])
                    for await outcome in after {
                        if case .returned = outcome {} else { Issue.record("unexpected outcome: \(outcome)") }
                        break
                    }
                    group.cancelAll()
                }
            }
        }
    }

    @Test func canaryReturnsThroughItsRelay() async throws {
        try await withEmbeddedRelay { _, address in
            let relay = try RelayURL(address)
            let pool = try RelayPool(addresses: .unrestricted, logger: logger)
            await pool.setRelays([relay])
            let service = CanaryService(
                relays: ConfiguredRelays([relay]), interval: .seconds(3600), budget: .seconds(60), transport: pool,
                clock: SystemClock(), canaryResults: CanaryResults(), generator: SystemRandomNumberGenerator(),
                logger: logger)
            let outcomes = service.canaryResults.outcomes(of: relay)
            try await withThrowingDiscardingTaskGroup { group in
                group.addTask { try await pool.run() }
                group.addTask { try await service.run() }
                for await outcome in outcomes {
                    guard case .returned(let milliseconds) = outcome else {
                        Issue.record("unexpected outcome: \(outcome)")
                        break
                    }
                    #expect((0..<60_000).contains(milliseconds))
                    break
                }
                group.cancelAll()
            }
            // The account's reader of the pool received nothing of it.
            for await update in pool.updates {
                if case .event = update { Issue.record("unexpected update: \(update)") }
                if case .endOfStoredEvents = update { Issue.record("unexpected update: \(update)") }
            }
        }
    }

    @Test func canaryIsNeitherStoredNorLinkable() throws {
        var random = SeededGenerator(seed: 7)
        var events = CanaryEvents(budget: .seconds(10), using: &random)
        var others = CanaryEvents(budget: .seconds(10), using: &random)
        let relay = try RelayURL("wss://relay.example")
        let filters = events.subscription("canary-0", at: relay).filters
        let brief = events.make(.ephemeral, now: 1000, using: &random)
        let stored = events.make(.stored, now: 1000, using: &random)
        #expect((20_000..<30_000).contains(brief.kind.rawValue))
        #expect(brief.tags.isEmpty)
        #expect(stored.kind == .groupEvent)
        #expect(stored.firstTag("expiration")?.value == "1071")
        for event in [brief, stored] {
            #expect(filters.contains { $0.matches(event) })
            #expect(event.json().count < 700)
        }
        for event in [
            others.make(.ephemeral, now: 1000, using: &random), others.make(.stored, now: 1000, using: &random),
        ] {
            #expect(!filters.contains { $0.matches(event) })
        }
        #expect(events.make(.ephemeral, now: 1000, using: &random).id != brief.id)
    }
}

extension CanaryResults {
    /// The latest outcome and all following ones.
    fileprivate func outcomes(of relay: RelayURL) -> AsyncStream<Canary.Outcome> {
        AsyncStream {
            while !Task.isCancelled {
                if let entry = self[relay] { return entry.outcome }
                try? await Task.sleep(for: .milliseconds(3))
            }
            return nil
        }
    }
}
