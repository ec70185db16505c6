import BotDispatch
import BotKit
import Synchronization

@testable import BotTesting
@testable import GroupCanaryBot

/// Records a bot's metrics.
final class RecordedMetrics: BotMetrics {
    private let gauges = Mutex<[MetricSample: Double]>([:])
    private let counters = Mutex<[MetricSample: Double]>([:])
    private let observed = Mutex<[MetricSample]>([])

    func set(_ sample: MetricSample) { gauges.withLock { $0[Self.key(sample)] = sample.value } }
    func remove(_ sample: MetricSample) { gauges.withLock { $0[Self.key(sample)] = nil } }
    func add(_ sample: MetricSample) { counters.withLock { $0[Self.key(sample), default: 0] += sample.value } }
    func observe(_ sample: MetricSample) { observed.withLock { $0.append(sample) } }

    private static func key(_ sample: MetricSample) -> MetricSample { MetricSample(sample.name, sample.labels, 0) }

    func gauge(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        gauges.withLock { $0[MetricSample(name, labels.merging(["target": "main"]) { old, _ in old }, 0)] }
    }

    func count(_ name: String, _ labels: [String: String] = [:]) -> Double {
        counters.withLock { $0[MetricSample(name, labels.merging(["target": "main"]) { old, _ in old }, 0)] ?? 0 }
    }

    func answers(_ result: String) -> Double { count("group_canary_answers_total", ["result": result]) }
    var roundTrips: [Double] { observed.withLock { $0.map(\.value) } }
}

/// A lab with a sender and its peers.
struct CanaryStage {
    let lab: GroupLab
    let metrics = RecordedMetrics()

    init(seed: UInt64 = 1) throws {
        lab = try GroupLab(seed: seed)
    }

    /// The key of a member, also before the member exists.
    func key(_ name: String) -> PublicKey {
        var generator = SeededGenerator(seed: lab.seed, stream: "key of \(name)")
        return KeyPair.generate(using: &generator).publicKey
    }

    func mirror(_ name: String) async throws -> LabMember {
        var policy = BotPolicy()
        policy.limits.botPair = 1_000_000
        return try await lab.bot(
            GroupCanaryBot.self, name: name,
            settings: ["role": "mirror", "senders": [.string(key("sender").npub)]], policy: policy)
    }

    func sender(
        every: BotSettings = "10s", peers: [String], mirrors: [String]? = nil, checks: [BotSettings] = [],
        groupProtocol: GroupProtocol? = nil, more: [String: BotSettings] = [:]
    ) async throws -> LabMember {
        var group: [String: BotSettings] = [
            "peers": .object(Dictionary(uniqueKeysWithValues: peers.map { ($0, .string(key($0).npub)) })),
            "checks": .array(checks),
        ]
        group["protocol"] = groupProtocol.map { .string($0.rawValue) }
        group["mirrors"] = mirrors.map { .array($0.map { .string($0) }) }
        let settings: [String: BotSettings] = [
            "role": "sender", "every": every, "timeout": "5s", "window": 10, "checksEvery": "10s",
            "groups": ["main": .object(group)],
        ]
        return try await lab.bot(
            GroupCanaryBot.self, name: "sender", settings: .object(settings.merging(more) { _, new in new }),
            services: BotServices(metrics: metrics))
    }

    func probe(_ sender: LabMember, _ target: String = "main") async throws -> ProbeOutcome? {
        let dispatcher = sender.dispatcher.withLock { $0 }
        return try await lab.run {
            await dispatcher?.probe(ProbeRequest(module: "group-canary", target: target, timeout: .seconds(5)))
        }
    }

    func reportsSuccess(_ sender: LabMember) async throws -> Bool {
        guard case .answered(let answer)? = try await probe(sender) else { return false }
        return answer.isSuccess
    }

    /// The only chat of a member.
    func chat(of member: LabMember) async throws -> AppState.ChatSummary? { try await member.state().chatList.first }
}
