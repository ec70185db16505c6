import Foundation
import LiveTesting
import LoadReport

/// A synthetic run from a seed: 60 agents in 6 groups, a relay that is down for five seconds, and agents that restart,
/// as in the plan below.
struct SyntheticRun {
    static let plan = """
        version: 1
        load:
          seed: 7
          relays: [ws://127.0.0.1:7777]
          agents: { count: 60, rampPerSecond: 20 }
          groups: { count: 6, sizes: { fixed: 10 } }
          stages: [ { for: 15s, sendRate: 20/s }, { for: 30s, sendRate: 20/s, churn: 30/min } ]
          faults: [ { at: 20s, for: 5s, relay: 0, action: down }, { at: 40s, action: restartAgents, share: 0.1 } ]
        thresholds: { join.p95: "< 3s", deliver.p99: "< 2s", delivery: ">= 0.999", order: ">= 0.999", divergence: "== 0" }
        """

    static let start = WallTime(unixMilliseconds: 1_795_305_600_250)
    static let length = Duration.milliseconds(45_400)

    private let recorder = LoadRecorder()
    private var random = SplitMix64(seed: 7)
    private let outage = 20.0..<25.0

    static func result(thresholds: [String: String] = standardThresholds) throws -> LoadResult {
        var run = SyntheticRun()
        run.ramp()
        run.groups()
        run.messages()
        run.churn()
        run.gauges()
        run.mark()
        return run.recorder.result(
            facts, cost: ProcessUsage(userSeconds: 31.25, systemSeconds: 4.5, peakMemoryBytes: 412_876_800), at: length,
            thresholds: try LoadThreshold.all(thresholds))
    }

    static let standardThresholds = [
        "join.p95": "< 3s", "deliver.p99": "< 2s", "delivery": ">= 0.999", "order": ">= 0.999", "divergence": "== 0",
        "coldSync.p95": "< 5s", "lag.p99": "<= 50ms",
    ]

    static let facts = LoadRun(
        name: "outage and restart storm", seed: 7, plan: plan, startedAt: start,
        environment: LoadEnvironment(
            host: HostFacts(
                name: "bench-1", processor: "Intel(R) Xeon(R) CPU @ 2.80GHz", processors: 2,
                memoryBytes: 25_202_000_000, system: "Debian GNU/Linux 12 (bookworm)", kernel: "6.1.0-30-amd64",
                compiler: "Swift 6.3", build: "release"),
            software: "pikabot 0.6.0", store: "memory", relays: ["ws://127.0.0.1:7777"],
            notes: ["relay: nostr-sdk LocalRelay on the same machine"]),
        stages: [
            LoadStage(name: "send 20/s", from: .zero, to: .seconds(15)),
            LoadStage(name: "send 20/s, churn 30/min", from: .seconds(15), to: .seconds(45)),
        ])

    // MARK: Events

    private mutating func ramp() {
        for agent in 0..<60 {
            let start = Double(agent) / 20
            let connected = start + latency(4)
            success(.connect, start, connected)
            let made = connected + latency(9)
            success(.createIdentity, connected, made, intended: start)
            success(.publishKeyPackage, made, made + latency(14))
            recorder.started(intended: .seconds(start), actual: .seconds(start + latency(0.4)))
        }
    }

    private mutating func groups() {
        recorder.reached(.planned, count: 54)
        for group in 0..<6 {
            let start = 3.2 + Double(group) * 0.35
            success(.createGroup, start, start + latency(22))
            for member in 0..<9 {
                let requested = start + 0.1 + Double(member) * 0.02
                let fetched = requested + latency(12)
                if group == 4, member == 7 {
                    recorder.failure(.fetchKeyPackage, reason: "no key package found", at: .seconds(fetched))
                    recorder.lost(before: .keyPackage, reason: "no key package found", at: .seconds(fetched))
                    continue
                }
                success(.fetchKeyPackage, requested, fetched)
                join(requested: requested, fetched: fetched, isLost: group == 2 && member == 3)
            }
        }
    }

    private mutating func join(requested: Double, fetched: Double, isLost: Bool) {
        recorder.reached(.keyPackage)
        let added = fetched + latency(60)
        success(.add, fetched, added)
        success(.commit, fetched, added - 0.004)
        recorder.reached(.added)
        let welcomed = added + latency(35)
        success(.welcomeSeen, added, welcomed)
        recorder.reached(.welcomeSeen)
        guard !isLost else {
            recorder.lost(before: .joined, reason: "welcome refused: unsupported extension", at: .seconds(welcomed))
            recorder.failure(.join, reason: "welcome refused: unsupported extension", at: .seconds(welcomed))
            return
        }
        let joined = welcomed + latency(18)
        success(.join, requested, joined)
        recorder.reached(.joined)
        success(.firstMessage, joined, joined + latency(300))
        recorder.reached(.firstMessage)
    }

    private mutating func messages() {
        for number in 0..<800 {
            let intended = 5 + Double(number) / 20
            let start = intended + latency(0.4)
            recorder.started(intended: .seconds(intended), actual: .seconds(start))
            let isDown = outage.contains(start)
            if isDown, Int.random(in: 0..<3, using: &random) == 0 {
                recorder.failure(.send, reason: "connection refused", at: .seconds(start + latency(3)))
                continue
            }
            // Messages queued while the relay was down are sent in order when it is back.
            let sent = isDown ? 25.4 + (start - 20) * 0.3 + latency(14) : start + latency(14)
            success(.send, isDown ? sent - latency(14) : start, sent, intended: intended)
            deliveries(intended: intended, sent: sent, isDown: isDown)
        }
    }

    private mutating func deliveries(intended: Double, sent: Double, isDown: Bool) {
        recorder.expectDeliveries(9, at: .seconds(sent))
        for _ in 0..<9 {
            let read = sent + latency(24)
            let luck = Int.random(in: 0..<2_000, using: &random)
            if isDown, luck < 6 { continue }
            success(.deliver, intended, read)
            recorder.delivered(isDown && luck < 25 ? .outOfOrder : .inOrder, at: .seconds(read))
            if isDown, luck > 1_990 { recorder.delivered(.duplicate, at: .seconds(read + 0.2)) }
        }
    }

    private mutating func churn() {
        for number in 0..<15 {
            let start = 15.5 + Double(number) * 2
            guard !outage.contains(start) else {
                recorder.failure(.remove, reason: "timed out after 2 s", at: .seconds(start + 2))
                continue
            }
            let done = start + latency(70)
            success(.commit, start, done)
            success(number % 2 == 0 ? .remove : .leave, start, done)
            if number % 4 == 3 {
                recorder.conflict()
                success(.conflictRetry, done, done + latency(120))
            }
        }
        for agent in 0..<6 { success(.coldSync, 40, 40.2 + Double(agent) * 0.15 + latency(220)) }
        for _ in 0..<53 { recorder.compared(diverged: false) }
    }

    private mutating func gauges() {
        for second in 0..<45 {
            let moment = Duration.milliseconds(second * 1_000 + 500)
            let restarting = second == 40 ? 6.0 : second == 41 ? 2 : 0
            recorder.gauge(.agents, min(60, Double(second + 1) * 20) - restarting, at: moment)
            recorder.gauge(.groups, min(6, max(0, Double(second - 2) * 3)), at: moment)
        }
    }

    private func mark() {
        recorder.injected(
            LoadFault(from: .seconds(20), to: .seconds(25), action: "relay down", target: "ws://127.0.0.1:7777"))
        recorder.injected(LoadFault(from: .seconds(40), action: "restart", target: "6 agents"))
    }

    // MARK: Helpers

    private func success(_ operation: LoadOperation, _ start: Double, _ end: Double, intended: Double? = nil) {
        recorder.success(
            operation, from: .seconds(start), to: .seconds(end), intended: intended.map { .seconds($0) })
    }

    /// Returns a log-normal latency in seconds around this many milliseconds, sometimes a slow one.
    private mutating func latency(_ milliseconds: Double) -> Double {
        let (first, second) = (Double.random(in: 1e-9..<1, using: &random), Double.random(in: 0..<1, using: &random))
        let normal = (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
        let slow = Int.random(in: 0..<150, using: &random) == 0 ? 6.0 : 1
        return milliseconds / 1_000 * exp(0.45 * normal) * slow
    }
}
