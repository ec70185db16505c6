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

    private func report(
        _ state: RelayKeyPackageResult.State, at relay: RelayURL, _ generation: GroupGeneration = .v1,
        works: Bool = true
    ) throws -> KeyPackageReport {
        let event = try EventID(hex: String(repeating: "01", count: 32))
        let now = lab.clock.now
        let held = ProbedKeyPackage(
            event: event, kind: .addressableKeyPackage, createdAt: now - 100, notAfter: now + 500,
            failedCheck: state == .invalid ? "account proof" : nil)
        let holding = RelayKeyPackageResult(
            relay: relay, isConfigured: true, lists: [], state: state, reason: "",
            package: state == .missing ? nil : held)
        let found = GenerationReport(
            relays: [holding],
            invitation: state.isUsable
                ? TrialInvitation(
                    event: event, kind: .addressableKeyPackage, failure: works ? nil : "no", supportsSelfRemove: true)
                : nil)
        return KeyPackageReport(
            account: Self.alice, generations: [generation: found],
            lists: [
                PublishedRelayList(kind: .inboxRelays, relays: [relay]),
                PublishedRelayList(kind: generation.keyPackageList, relays: nil, problem: "not found"),
            ])
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
        let here = target.merging(["protocol": "v1", "relay": "one.example"]) { _, new in new }
        #expect(metrics.value("keypackage_probe_success", target) == 1)
        func inviteable(_ name: String) -> Double? {
            metrics.value("keypackage_inviteable", target.merging(["protocol": name]) { _, new in new })
        }
        #expect(inviteable("v1") == 1 && inviteable("v2") == 0)
        func list(_ name: String) -> Double? {
            metrics.value("keypackage_list_ok", target.merging(["list": name]) { _, new in new })
        }
        #expect(list("10050") == 1 && list("10051") == 0 && list("10002") == nil)
        #expect(metrics.value("probe_success", target) == 1)
        #expect(metrics.value("keypackage_relay_state", here.merging(["state": "present"]) { _, new in new }) == 1)
        #expect(metrics.value("keypackage_age_seconds", here).map { (100...161).contains($0) } == true)
        #expect(metrics.value("keypackage_not_after_timestamp_seconds", here) == 1_800_000_500)
        #expect(metrics.labels == ["alice", "v1", "v2", "one.example", "present", "10050", "10051"])
    }

    @Test func removesOutdatedMetrics() async throws {
        probes[Self.alice] = try report(.present, at: relay)
        let bot = try await start()
        try await lab.advance(by: .seconds(60))
        probes[Self.alice] = try report(.missing, at: relay)
        try await lab.advance(by: .seconds(60))
        let here = ["target": "alice", "protocol": "v1", "relay": "one.example"]
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

    @Test func removesListsThatNoLongerMatter() async throws {
        probes[Self.alice] = try report(.present, at: relay)
        let bot = try await start()
        try await lab.advance(by: .seconds(60))
        func list(_ name: String) -> Double? {
            metrics.value("keypackage_list_ok", ["target": "alice", "list": name])
        }
        #expect(list("10051") == 0 && list("10050") == 1)
        probes[Self.alice] = try report(.present, at: relay, .v2)
        try await lab.advance(by: .seconds(60))
        #expect(list("10051") == nil && list("10050") == 1 && list("10002") == 0)
        _ = bot
    }

    @Test func reportsFailedChecksOfSecondGeneration() async throws {
        probes[Self.alice] = try report(.invalid, at: relay, .v2)
        _ = try await start()
        try await lab.advance(by: .seconds(60))
        let here = ["target": "alice", "protocol": "v2", "relay": "one.example", "check": "account proof"]
        #expect(metrics.value("keypackage_failed_check", here) == 1)
        probes[Self.alice] = try report(.hidden, at: relay, .v2)
        try await lab.advance(by: .seconds(60))
        #expect(metrics.value("keypackage_failed_check", here) == 0)
        let state = ["target": "alice", "protocol": "v2", "relay": "one.example", "state": "hidden"]
        #expect(metrics.value("keypackage_relay_state", state) == 1)
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
            #expect(answer.samples.contains(MetricSample("keypackage_inviteable", ["protocol": "v1"], 0)))
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
