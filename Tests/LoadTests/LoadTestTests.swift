import BotConfiguration
import BotKit
import EmbeddedRelay
import Foundation
import LiveTesting
import LoadReport
import Logging
import Nostr
import Synchronization
import Testing

@testable import Load

/// Whole load tests, against the embedded relay.
@Suite(.live)
struct LoadTestTests {
    private func run(
        _ load: String, thresholds: String = "", state: String = "memory",
        directory: String = "unused"
    ) async throws -> LoadResult {
        try await withEmbeddedRelay(configuration: RelayConfiguration()) { _, address in
            let text = """
                version: 1
                load:
                  relays: [\(address)]
                  agents: { count: 6, rampPerSecond: 100, state: \(state) }
                \(load)
                thresholds: { \(thresholds) }
                """
            return try await test(text, directory: directory).run()
        }
    }

    /// - Parameter inOrder: False if agents read stored events, whose times have a resolution of one second.
    private func expectCorrect(_ result: LoadResult, inOrder: Bool = true) {
        #expect(result.correctness.expected > 0)
        #expect(result.correctness.deliveryRatio == 1)
        #expect(!inOrder || result.correctness.orderRatio == 1)
        #expect(result.correctness.duplicates == 0)
        #expect(result.correctness.compared > 0)
        #expect(result.correctness.diverged == 0)
        #expect(result.exceptions.isEmpty)
    }

    @Test func deliversEverythingOnceAndInOrder() async throws {
        let result = try await run(
            """
              groups: { count: 2, sizes: { fixed: 4 } }
              stages: [ { for: 2s, sendRate: 30/s } ]
            """, thresholds: #"delivery: "== 1", join.count: "== 6", deliver.count: "> 0", divergence: "== 0""#)
        expectCorrect(result)
        #expect(result.passed, "\(result.thresholds)")
        #expect(result.operation(.createIdentity)?.count == 6)
        #expect(result.operation(.publishKeyPackage)?.count == 6)
        #expect(result.operation(.createGroup)?.count == 2)
        #expect(result.operation(.welcomeSeen)?.count == 6)
        #expect(result.operation(.join)?.count == 6)
        #expect(result.operation(.send)?.failures == 0)
        #expect(result.operation(.deliver)?.count == result.correctness.expected)
        #expect(result.funnel.stages.map(\.count).allSatisfy { $0 == 6 })
        #expect(result.run.stages.map(\.name) == ["start 6 agents", "create 2 groups", "send 30/s", "settle"])
    }

    /// Members that commit at the same moment settle on one history, in both protocol generations.
    @Test(arguments: ["v1", "v2"]) func groupsOfEachGenerationAgree(_ generation: String) async throws {
        let result = try await run(
            """
              groups: { count: 1, protocol: \(generation), sizes: { fixed: 4 } }
              stages: [ { for: 3s, sendRate: 10/s, storm: { every: 1s, members: 2 } } ]
              settle: 30s
            """)
        expectCorrect(result, inOrder: false)
        #expect(result.operation(.createGroup)?.count == 1)
        #expect(result.operation(.commit)?.count ?? 0 > 0)
    }

    @Test func restartedAgentsMissNothing() async throws {
        let result = try await run(
            """
              groups: { count: 1, sizes: { fixed: 5 } }
              stages: [ { for: 3s, sendRate: 20/s } ]
              faults: [ { at: 1s, action: restartAgents, share: 0.5 } ]
            """)
        expectCorrect(result, inOrder: false)
        #expect(result.operation(.coldSync)?.count == 3)
        #expect(result.faults.map(\.action) == ["agents restarted"])
    }

    @Test func relayOutageLosesNothing() async throws {
        let result = try await run(
            """
              groups: { count: 1, sizes: { fixed: 4 } }
              stages: [ { for: 3s, sendRate: 20/s } ]
              faults: [ { at: 1s, for: 500ms, relay: 0, action: down } ]
            """)
        expectCorrect(result, inOrder: false)
        #expect(result.faults.map(\.action) == ["relay down"])
    }

    @Test(arguments: ["v1", "v2"]) func countsDeliveriesDuringChurn(_ generation: String) async throws {
        let result = try await run(
            """
              groups: { count: 1, protocol: \(generation), sizes: { fixed: 4 } }
              stages:
                - { for: 2s, sendRate: 10/s, churn: 3/s, users: { count: 3, think: 50ms } }
                - { for: 1s, storm: { every: 300ms, members: 3 } }
            """)
        let stages = result.funnel.stages
        #expect(zip(stages, stages.dropFirst()).allSatisfy { $0.count >= $1.count }, "\(stages)")
        #expect(!stages.flatMap(\.lost).contains { $0.reason == "busy" })
        if result.correctness.deliveryRatio != 1 { print("CHURN", result.correctness, result.funnel) }
        #expect(result.correctness.deliveryRatio == 1)
        #expect(result.correctness.diverged == 0)
        #expect(result.operation(.commit)?.count ?? 0 > 0)
    }

    @Test func supportsClosedUsersAndDisk() async throws {
        let folder = NSTemporaryDirectory() + "load-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await run(
            """
              groups: { count: 1, sizes: { fixed: 3 }, publishers: 2 }
              stages: [ { for: 2s, users: { count: 2, think: 50ms } } ]
              faults: [ { at: 1s, action: restartAgents, share: 0.2 } ]
            """, state: "disk", directory: folder)
        expectCorrect(result, inOrder: false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).count == 6)
    }

    @Test func reportsMissingRelay() async throws {
        let text = """
            version: 1
            load: { relays: [ws://127.0.0.1:1], agents: { count: 2 }, groups: { count: 1, sizes: { fixed: 2 } } }
            """
        var test = try test(text)
        test.actionTimeout = .seconds(4)
        let load = test
        let error = await #expect(throws: LoadError.self) { _ = try await load.run() }
        #expect(error?.code == .noRelay)
        #expect(error?.message.contains("ws://127.0.0.1:1") == true)
    }

    private func withLoadTest<Value: Sendable>(
        _ load: String, thresholds: String = "", _ body: (LoadTest, RelayGate) async throws -> Value
    ) async throws -> Value {
        try await withEmbeddedRelay(configuration: RelayConfiguration()) { _, address in
            let gate = try await RelayGate.open(to: RelayURL(address))
            let text = """
                version: 1
                load:
                  relays: [\(gate.address)]
                  agents: { count: 4, rampPerSecond: 100 }
                  groups: { count: 1, sizes: { fixed: 4 } }
                \(load)
                thresholds: { \(thresholds) }
                """
            let value = try await body(try test(text), gate)
            await gate.close()
            return value
        }
    }

    private func test(_ text: String, directory: String = "unused") throws -> LoadTest {
        let plan = try SettingsFile.read(text, file: "plan.yaml") { (settings, _) throws(BotSettingsError) in
            try LoadPlan(settings: settings)
        }
        let logger = Logger(label: "load") { _ in SwiftLogNoOpLogHandler() }
        return try LoadTest(plan, text: text, name: "plan", directory: directory, logger: logger)
    }

    @Test func lostRelayDoesNotBlockStages() async throws {
        let result = try await withLoadTest(
            """
              settle: 1s
              stages: [ { for: 2s, users: { count: 3, think: 20ms } }, { for: 1s } ]
            """
        ) { test, gate in
            try await test.run { stage, _ in if stage == "3 users" { gate.set(.down) } }
        }
        #expect(result.run.stages.map(\.name).suffix(3) == ["3 users", "idle", "settle"])
        let send = try #require(result.operation(.send))
        #expect(send.failureReasons.map(\.reason) == ["no relay answered in time"])
        #expect(send.failures == 3)
    }

    private final class Planned: Sendable {
        let end = Mutex<Double?>(nil)
    }

    @Test func interruptionEndsFaultsWithoutComparison() async throws {
        let planned = Planned()
        let result = try await withLoadTest(
            """
              stages: [ { for: 5m, sendRate: 20/s } ]
              faults: [ { at: 1s, for: 4m, action: stall } ]
            """, thresholds: #"divergence: "== 0""#
        ) { test, _ in
            let (troubles, report) = AsyncStream.makeStream(of: Void.self)
            return try await withThrowingTaskGroup(of: LoadResult?.self) { group in
                group.addTask {
                    try await test.run { _, snapshot in
                        let snapshot = snapshot()
                        guard !snapshot.faults.isEmpty else { return }
                        planned.end.withLock { $0 = snapshot.planned }
                        report.finish()
                    }
                }
                group.addTask {
                    for await _ in troubles {}
                    return nil
                }
                _ = try await group.next()
                group.cancelAll()
                return try await group.next() ?? nil
            }
        }
        let found = try #require(result)
        // The planned end of the stages: five minutes after their start.
        let start = try #require(planned.end.withLock { $0 }) - 300
        #expect(found.run.stages.map(\.name) == ["start 4 agents", "create 1 groups", "send 20/s", "settle"])
        #expect(found.run.stages[1].to <= start && start <= found.run.stages[2].from)
        #expect(found.correctness.compared == 0)
        #expect(found.thresholds.map(\.found) == ["never measured: no member was compared with its group"])
        let fault = try #require(found.faults.first)
        #expect(try #require(fault.to) <= found.duration)
    }

    @Test func waitEndsWithStreamOrTimeout() async {
        let (never, continuation) = AsyncStream.makeStream(of: Never.self)
        await Fleet.wait(for: never, within: .milliseconds(1))
        continuation.finish()
        await Fleet.wait(for: never, within: .seconds(3_600))
    }

    @Test func refusesNonEmptyFolder() throws {
        let folder = NSTemporaryDirectory() + "load-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func text(_ state: String) -> String {
            """
            version: 1
            load:
              relays: [ws://127.0.0.1:1]
              agents: { count: 2, state: \(state) }
              groups: { count: 1, sizes: { fixed: 2 } }
            """
        }
        _ = try test(text("disk"), directory: folder)
        try FileManager.default.createDirectory(atPath: folder + "/agent-0", withIntermediateDirectories: true)
        let error = #expect(throws: LoadError.self) { try test(text("disk"), directory: folder) }
        #expect(error?.code == .stateInUse)
        #expect(error?.message.contains(folder) == true)
        _ = try test(text("memory"), directory: folder)
    }

    @Test func reportsFailedThresholds() async throws {
        let result = try await run(
            "  groups: { count: 1, sizes: { fixed: 2 } }", thresholds: #"join.p95: "< 1ms", deliver.p99: "< 1s""#)
        #expect(!result.passed)
        #expect(result.thresholds.map(\.passed) == [false, false])
    }
}
