import BotKit
import EmbeddedRelay
import LiveTesting
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import ProbeReports
import RelayClient
import Testing

@testable import BotRuntime

/// The relay probes available to bots.
@Suite(.live)
struct AccountRelayProbesTests {
    private let keys: KeyPair = {
        var generator = SystemRandomNumberGenerator()
        return KeyPair.generate(using: &generator)
    }()

    private func withProbes(
        _ configuration: RelayConfiguration = RelayConfiguration(),
        _ body: @escaping @Sendable (AccountRelayProbes, RelayURL, RelayPool) async throws -> Void
    ) async throws {
        let keys = keys
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let relay = try RelayURL(address)
            let pool = try RelayPool(
                addresses: .unrestricted, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let relays = ConfiguredRelays([])
            let probes = AccountRelayProbes(
                key: .local(keys), pool: pool, relays: relays, folder: "/tmp", clock: SystemClock())
            // As after a reload.
            relays.set([relay])
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await pool.run() }
                await pool.setRelays([relay])
                let outcome: Result<Void, any Error>
                do { outcome = .success(try await body(probes, relay, pool)) } catch { outcome = .failure(error) }
                await pool.shutdown()
                group.cancelAll()
                try outcome.get()
            }
        }
    }

    @Test func reachesPrivateAddressesOnlyIfListed() async throws {
        try await withProbes { probes, relay, _ in
            let error = await #expect(throws: BotError.self) {
                _ = try await probes.probe(RelayProbeRequest(relay: relay))
            }
            #expect(error?.code == .probeRefused)
            let report = try await probes.probe(
                RelayProbeRequest(relay: relay, timeout: .seconds(60), reachesPrivateAddresses: true))
            #expect(report.faults == [])
            #expect(report.isReadBack == true)
        }
    }

    @Test func authenticatesIfConfigured() async throws {
        var configuration = RelayConfiguration()
        configuration.requireAuthentication = true
        try await withProbes(configuration) { probes, relay, _ in
            let report = try await probes.probe(
                RelayProbeRequest(
                    relay: relay, timeout: .seconds(60), reachesPrivateAddresses: true, logsInAsAccount: true))
            #expect(report.faults.map(\.code) == [.authRequired], "\(report.verdict)")
            #expect(report.phase(.auth)?.text == "requests authentication (NIP-42) and admits the account")
        }
    }

    @Test func cancelledProbeReportsNothing() async throws {
        try await withProbes { probes, relay, _ in
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await #expect(throws: CancellationError.self) {
                        _ = try await probes.probe(RelayProbeRequest(relay: relay, reachesPrivateAddresses: true))
                    }
                }
                group.cancelAll()
            }
        }
    }

    @Test func doesNotAnnouncePrivateRelays() async throws {
        let account = keys.publicKey
        try await withProbes { probes, relay, pool in
            var near = RelayProbeReport(try RelayURL("wss://near.example"))
            near.address = [192, 168, 0, 1]
            var dead = RelayProbeReport(try RelayURL("wss://dead.example"))
            dead.faults = [.init(.unreachable, .tcp, .error, "does not answer", advice: "check the address")]
            var silent = dead
            (silent.address, silent.faults[0].code) = ([1, 1, 1, 1], .silent)
            for report in [near, dead, silent] { try await probes.announce(.relay(report)) }
            let found = await pool.fetch(
                [Filter(authors: [account], kinds: [.relayDiscovery])], from: [relay], timeout: .seconds(20))
            guard case .events(let events)? = found[relay] else {
                Issue.record("expected the relay to answer")
                return
            }
            #expect(events == [])
        }
    }

    @Test func announcesResultsToOwnRelays() async throws {
        let account = keys.publicKey
        try await withProbes { probes, relay, pool in
            var report = RelayProbeReport(try RelayURL("wss://other.example"))
            report.phases = [.init(.upgrade, .passed, .milliseconds(12), "speaks WebSocket")]
            report.address = [1, 1, 1, 1]
            try await probes.announce(.relay(report))
            try await probes.announce(.monitor(every: .seconds(60), timeout: .seconds(20)))
            let filter = Filter(authors: [account], kinds: [.relayDiscovery, .relayMonitor])
            guard case .events(let events)? = await pool.fetch([filter], from: [relay], timeout: .seconds(20))[relay]
            else {
                Issue.record("expected the relay to answer")
                return
            }
            #expect(Set(events.map(\.kind)) == [.relayDiscovery, .relayMonitor])
            let discovery = events.first { $0.kind == .relayDiscovery }
            #expect(discovery?.firstTag("d")?.value == "wss://other.example/")
            #expect(discovery?.firstTag("rtt-open")?.value == "12")
            #expect(events.first { $0.kind == .relayMonitor }?.firstTag("frequency")?.value == "60")
        }
    }
}
