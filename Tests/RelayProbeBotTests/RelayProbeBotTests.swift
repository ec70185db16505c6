import BotKit
import BotTesting
import LiveTesting
import PikaCore
import ProbeReports
import Synchronization
import Testing

@testable import RelayProbeBot

@Suite(.bounded)
struct RelayProbeBotTests {
    private static let settings: BotSettings = [
        "every": "60s", "targets": ["wss://one.example", "ws://127.0.0.1:7777"], "allow": ["wss://*.two.example"],
    ]

    private func ask(_ target: String, _ module: String = "relay") -> ProbeRequest {
        ProbeRequest(module: module, target: target, timeout: .seconds(10))
    }

    @Test func probesTargetsStaggeredAndExportsMetrics() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays())
        _ = try await lab.bot(RelayProbeBot.self, settings: Self.settings, services: relays.services)
        try await lab.advance(by: .seconds(130))
        #expect(relays.probeRequests.count >= 4)
        #expect(Set(relays.probeRequests.map(\.relay.string)) == ["wss://one.example", "ws://127.0.0.1:7777"])
        #expect(relays.probeRequests.allSatisfy { $0.writes && $0.reachesPrivateAddresses })
        #expect(relays.probeRequests.allSatisfy { $0.timeout == .seconds(20) })
        #expect(relays.metrics["probe_success{target=one.example:443}"] == 1)
        #expect(relays.metrics["probe_success{target=127.0.0.1:7777}"] == 1)
        #expect(relays.metrics["probe_duration_seconds{target=one.example:443}"] == 0.04)
        #expect(relays.metrics["nostr_probe_phase_success{phase=dns,target=one.example:443}"] == 1)
        #expect(relays.metrics["nostr_probe_phase_duration_seconds{phase=readback,target=one.example:443}"] == 0.03)
        #expect(relays.metrics["nostr_probe_readback_found{target=one.example:443}"] == 1)
        #expect(relays.metrics["nostr_probe_phase_success{phase=tls,target=one.example:443}"] == nil)
        #expect(relays.announcements == [])
    }

    @Test func exportsFaults() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays(faults: [FakeRelays.losesEvents]))
        _ = try await lab.bot(RelayProbeBot.self, settings: Self.settings, services: relays.services)
        try await lab.advance(by: .seconds(70))
        #expect(relays.metrics["probe_success{target=one.example:443}"] == 0)
        #expect(relays.metrics["nostr_probe_phase_success{phase=readback,target=one.example:443}"] == 0)
        #expect(relays.metrics["nostr_probe_readback_found{target=one.example:443}"] == 0)
        // Unreached phases count as failed; skipped phases are omitted.
        #expect(relays.metrics["nostr_probe_phase_success{phase=size,target=one.example:443}"] == 0)
        #expect(relays.metrics["nostr_probe_phase_success{phase=tls,target=one.example:443}"] == nil)
    }

    @Test func removesMetricsMissingFromNewerReports() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays())
        relays.clockOffset.withLock { $0 = 90 }
        _ = try await lab.bot(RelayProbeBot.self, settings: Self.settings, services: relays.services)
        try await lab.advance(by: .seconds(70))
        let offset = "nostr_probe_clock_offset_seconds{target=one.example:443}"
        let phase = "nostr_probe_phase_success{phase=clock,target=one.example:443}"
        #expect(relays.metrics[offset] == 90 && relays.metrics[phase] == 0)
        relays.clockOffset.withLock { $0 = nil }
        try await lab.advance(by: .seconds(70))
        #expect(relays.metrics[offset] == nil && relays.metrics[phase] == nil)
        #expect(relays.metrics["probe_success{target=one.example:443}"] == 1)
    }

    @Test func cancelledProbeReportsNothing() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays(faults: [FakeRelays.losesEvents]))
        relays.isCancelled.withLock { $0 = true }
        _ = try await lab.bot(
            RelayProbeBot.self, settings: ["targets": ["wss://one.example"], "announce": true],
            services: relays.services)
        try await lab.advance(by: .seconds(130))
        #expect(relays.probeRequests.count >= 2)
        #expect(relays.metrics.isEmpty && relays.announcements.isEmpty)
        #expect(!lab.logLines.contains { $0.contains("Relay probe failed") })
    }

    @Test func skippedPhasesAreNotReported() throws {
        var report = FakeRelays.report(try RelayURL("wss://one.example"), [FakeRelays.losesEvents])
        #expect(report.samples().contains(MetricSample("nostr_probe_readback_found", [:], 0)))
        report.isReadBack = nil
        #expect(!report.samples().contains { $0.name == "nostr_probe_readback_found" })
    }

    @Test func answersProbesOfAllowedRelaysOnly() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays())
        let bot = try await lab.bot(RelayProbeBot.self, settings: Self.settings, services: relays.services)
        let answer = try await bot.probe(ask("wss://one.example"))
        #expect(answer.isSuccess)
        #expect(answer.samples.contains(MetricSample("nostr_probe_phase_success", ["phase": "dns"], 1)))
        #expect(relays.probeRequests.last?.timeout == .seconds(9.5))
        #expect(relays.probeRequests.last?.writes == true)
        _ = try await bot.probe(ask("ws://127.0.0.1:7777", "relay_read"))
        #expect(relays.probeRequests.last?.writes == false)
        #expect(relays.probeRequests.last?.reachesPrivateAddresses == true)
        _ = try await bot.probe(ask("wss://a.two.example"))
        #expect(relays.probeRequests.last?.reachesPrivateAddresses == false)
        let before = relays.probeRequests.count
        for target in [
            "wss://other.example", "ws://127.0.0.1:7778", "wss://two.example", "127.0.0.1", "", "file:///etc",
        ] {
            await #expect(throws: BotError.self) { _ = try await bot.probe(ask(target)) }
        }
        #expect(relays.probeRequests.count == before)
    }

    @Test func respectsDisabledWrites() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays())
        let bot = try await lab.bot(
            RelayProbeBot.self, settings: ["targets": ["wss://one.example"], "writes": false],
            services: relays.services)
        _ = try await bot.probe(ask("wss://one.example"))
        try await lab.advance(by: .seconds(70))
        #expect(relays.probeRequests.count >= 2)
        #expect(relays.probeRequests.allSatisfy { !$0.writes })
    }

    @Test func repliesToOperatorsWithTheVerdict() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays(faults: [FakeRelays.losesEvents]))
        let (ann, bob) = (try await lab.member("ann"), try await lab.member("bob"))
        let entry = LabBots.Entry(try RelayProbeBot(settings: Self.settings), label: "relay-probe")
        let bot = try await lab.bots(
            "probe", LabBots([entry], operators: [ann.publicKey], services: relays.services))
        let chat = try await ann.create("the room", inviting: [bob, bot])
        try await bob.say("/probe wss://one.example", in: chat)
        #expect(ann.heard(in: chat, from: bot) == [])
        try await ann.say("/probe wss://one.example", in: chat)
        try await ann.say("/probe wss://other.example", in: chat)
        #expect(
            ann.heard(in: chat, from: bot) == [
                "wss://one.example: Not fit for encrypted groups: it acknowledges events, but does not return them. "
                    + "Use another relay.",
                "this relay is neither a target nor allowed",
            ])
    }

    @Test func announcesOnlyWhenConfigured() async throws {
        let (lab, relays) = (try GroupLab(seed: 1), FakeRelays())
        _ = try await lab.bot(
            RelayProbeBot.self, settings: ["targets": ["wss://one.example"], "announce": true],
            services: relays.services)
        try await lab.advance(by: .seconds(3_700))
        #expect(relays.announcements.contains(.monitor(every: .seconds(60), timeout: .seconds(20))))
        #expect(relays.announcements.contains(.relay(FakeRelays.report(try RelayURL("wss://one.example"), []))))
    }

    @Test func missingServiceRefusesProbes() async throws {
        let relay = try RelayURL("wss://relay.example")
        let error = await #expect(throws: BotError.self) {
            _ = try await BotServices().relayProbes.probe(RelayProbeRequest(relay: relay))
        }
        #expect(error?.code == .probeRefused)
        let present = try await FakeRelays().services.relayProbes.probe(RelayProbeRequest(relay: relay))
        #expect(present.isGood)
    }
}
