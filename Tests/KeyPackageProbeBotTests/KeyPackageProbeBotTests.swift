import BotDispatch
import BotKit
import LiveTesting
import ProbeReports
import Synchronization
import Testing

@testable import BotTesting
@testable import KeyPackageProbeBot

@Suite(.bounded)
struct KeyPackageProbeBotTests {
    private static let alice = key("a")
    private let probes = FakeProbes()
    private let metrics = RecordedMetrics()
    private let lab: GroupLab
    private let relay: RelayURL

    init() throws {
        lab = try GroupLab(seed: 1)
        relay = try RelayURL("wss://one.example")
    }

    private static func key(_ name: String) -> PublicKey {
        var generator = SeededGenerator(seed: 9, stream: name)
        return KeyPair.generate(using: &generator).publicKey
    }

    private func report(_ state: RelayKeyPackageResult.State, at relay: RelayURL, works: Bool = true) throws
        -> KeyPackageReport
    {
        let event = try EventID(hex: String(repeating: "01", count: 32))
        let now = lab.clock.now
        let held = ProbedKeyPackage(
            event: event, kind: .addressableKeyPackage, createdAt: now - 100, notAfter: now + 500)
        let holding = RelayKeyPackageResult(
            relay: relay, isConfigured: true, lists: [], state: state, reason: "", package: state.isUsable ? held : nil)
        return KeyPackageReport(
            account: Self.alice, relays: [holding], lists: [],
            invitation: state.isUsable
                ? TrialInvitation(
                    event: event, kind: .addressableKeyPackage, failure: works ? nil : "no", supportsSelfRemove: true)
                : nil)
    }

    private func start(
        _ targets: [String: PublicKey] = ["alice": alice], every: BotSettings = "60s"
    ) async throws -> LabMember {
        var services = BotServices(metrics: metrics)
        services.keyPackageProbes = probes
        return try await lab.bot(
            KeyPackageProbeBot.self,
            settings: [
                "every": every, "relays": ["wss://two.example"],
                "targets": .object(targets.mapValues { .string($0.npub) }),
            ], services: services)
    }

    private func probe(_ bot: LabMember, _ target: String) async throws -> ProbeOutcome? {
        let dispatcher = bot.dispatcher.withLock { $0 }
        return try await lab.run {
            await dispatcher?.probe(ProbeRequest(module: "keypackage", target: target, timeout: .seconds(10)))
        }
    }

    @Test func probesOnScheduleAndReports() async throws {
        probes[Self.alice] = try report(.present, at: relay)
        _ = try await start()
        #expect(probes.requests.isEmpty)
        try await lab.advance(by: .seconds(60))
        #expect(probes.requests.map(\.account) == [Self.alice])
        #expect(probes.requests.first?.relays.map(\.string) == ["wss://two.example"])
        let target = ["target": "alice"]
        let here = target.merging(["relay": "one.example"]) { _, new in new }
        #expect(metrics.value("keypackage_probe_success", target) == 1)
        #expect(metrics.value("keypackage_inviteable", target) == 1)
        #expect(metrics.value("probe_success", target) == 1)
        #expect(metrics.value("keypackage_relay_state", here.merging(["state": "present"]) { _, new in new }) == 1)
        #expect(metrics.value("keypackage_age_seconds", here).map { (100...161).contains($0) } == true)
        #expect(metrics.value("keypackage_not_after_timestamp_seconds", here) == 1_800_000_500)
        #expect(metrics.labels == ["alice", "one.example", "present"])
    }

    @Test func removesOutdatedMetrics() async throws {
        probes[Self.alice] = try report(.present, at: relay)
        let bot = try await start()
        try await lab.advance(by: .seconds(60))
        probes[Self.alice] = try report(.missing, at: relay)
        try await lab.advance(by: .seconds(60))
        let here = ["target": "alice", "relay": "one.example"]
        func state(_ name: String) -> Double? {
            metrics.value("keypackage_relay_state", here.merging(["state": name]) { _, new in new })
        }
        #expect(state("present") == 0 && state("missing") == 1)
        #expect(metrics.value("keypackage_age_seconds", here) == 0)
        #expect(metrics.value("keypackage_not_after_timestamp_seconds", here) == 0)
        #expect(metrics.value("keypackage_probe_success", ["target": "alice"]) == 0)
        // No list names the relay.
        probes[Self.alice] = try report(.present, at: try RelayURL("wss://three.example"))
        try await lab.advance(by: .seconds(60))
        #expect(state("missing") == 0)
        let lines = lab.logLines.filter { $0.contains("cannot be found") }
        #expect(lines.count == 1 && lines.allSatisfy { !$0.contains(Self.alice.npub) && !$0.contains(Self.alice.hex) })
        #expect(lab.logLines.contains { $0.contains("can be found and invited again") })
        _ = bot
    }

    @Test func answersProbesOfConfiguredTargetsOnly() async throws {
        probes[Self.alice] = try report(.stale, at: relay, works: false)
        let bot = try await start()
        for name in ["alice", Self.alice.npub, Self.alice.hex] {
            guard case .answered(let answer)? = try await probe(bot, name) else {
                Issue.record("\(name) is not answered")
                continue
            }
            #expect(!answer.isSuccess)
            #expect(answer.samples.allSatisfy { $0.labels["target"] == nil && $0.value.isFinite })
            #expect(answer.samples.contains(MetricSample("keypackage_inviteable", [:], 0)))
        }
        #expect(probes.requests.allSatisfy { $0.timeout <= .seconds(9) })
        for name in ["bob", Self.key("b").npub, "", "wss://one.example"] {
            guard case .refused? = try await probe(bot, name) else {
                Issue.record("\(name) is not refused")
                continue
            }
        }
        #expect(probes.requests.count == 3)
    }

    @Test func probesManyTargetsInBatches() async throws {
        let targets = Dictionary(uniqueKeysWithValues: (10..<30).map { ("t\($0)", Self.key("t\($0)")) })
        _ = try await start(targets)
        try await lab.advance(by: .seconds(20))
        #expect((4...8).contains(probes.requests.count))
        try await lab.advance(by: .seconds(40))
        #expect(probes.requests.count == 20 && Set(probes.requests.map(\.account)).count == 20)
    }

    /// Two batches, 20 seconds apart; each probe takes 25 seconds, so the next is due while the first is in progress.
    @Test func slowProbesSkipNoBatch() async throws {
        probes.slowness.withLock { $0 = (lab.clock, 25_000) }
        let targets = Dictionary(uniqueKeysWithValues: (10..<26).map { ("t\($0)", Self.key("t\($0)")) })
        _ = try await start(targets, every: "40s")
        try await lab.advance(by: .seconds(200))
        #expect(probes.requests.count < 16 * 5)
        #expect(Set(probes.requests.map(\.account)) == Set(targets.values))
    }

    @Test func cancelledProbeReportsNothing() async throws {
        probes.givesUp.withLock { $0 = true }
        _ = try await start()
        try await lab.advance(by: .seconds(130))
        #expect(probes.requests.count >= 2)
        #expect(metrics.labels.isEmpty)
        #expect(!lab.logLines.contains { $0.contains("cannot be found") })
    }
}
