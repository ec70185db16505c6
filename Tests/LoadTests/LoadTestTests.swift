import BotKit
import BotRuntime
import EmbeddedRelay
import Foundation
import LoadReport
import Logging
import Testing

@testable import Load

/// Whole load tests, against the embedded relay.
@Suite(.timeLimit(.minutes(15)))
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
            let plan = try SettingsFile.read(text, file: "plan.yaml") { (settings, _) throws(BotSettingsError) in
                try LoadPlan(settings: settings)
            }
            let logger = Logger(label: "load") { _ in SwiftLogNoOpLogHandler() }
            return try await LoadTest(plan, text: text, name: "plan", directory: directory, logger: logger).run()
        }
    }

    /// - Parameter inOrder: False where agents read what relays have stored, which know whole seconds only.
    private func expectCorrect(_ result: LoadResult, inOrder: Bool = true) {
        #expect(result.correctness.expected > 0)
        #expect(result.correctness.deliveryRatio == 1)
        #expect(!inOrder || result.correctness.orderRatio == 1)
        #expect(result.correctness.duplicates == 0)
        #expect(result.correctness.compared > 0)
        #expect(result.correctness.diverged == 0)
        #expect(result.exceptions.isEmpty)
    }

    @Test func everythingThatIsSentArrivesOnceAndInOrder() async throws {
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
        #expect(result.run.stages.map(\.name) == ["start 6 agents", "found 2 groups", "send 30/s", "settle"])
    }

    @Test func agentsThatAreStartedAgainMissNothing() async throws {
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

    @Test func aRelayThatIsAwayForAWhileLosesNothing() async throws {
        let result = try await run(
            """
              groups: { count: 1, sizes: { fixed: 4 } }
              stages: [ { for: 3s, sendRate: 20/s } ]
              faults: [ { at: 1s, for: 500ms, relay: 0, action: down } ]
            """)
        expectCorrect(result, inOrder: false)
        #expect(result.faults.map(\.action) == ["relay down"])
    }

    @Test func whoComesAndGoesIsCountedAsLongAsHeIsThere() async throws {
        let result = try await run(
            """
              groups: { count: 1, sizes: { fixed: 4 } }
              stages: [ { for: 4s, sendRate: 10/s, churn: 2/s }, { for: 2s, storm: { every: 500ms, members: 3 } } ]
            """)
        #expect(result.correctness.deliveryRatio == 1)
        #expect(result.correctness.diverged == 0)
        #expect(result.operation(.commit)?.count ?? 0 > 0)
    }

    @Test func usersWhoWaitAndDatabasesOnDisk() async throws {
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

    @Test func withoutARelayATestEndsSoonAndSaysSo() async throws {
        let text = """
            version: 1
            load: { relays: [ws://127.0.0.1:1], agents: { count: 2 }, groups: { count: 1, sizes: { fixed: 2 } } }
            """
        let plan = try SettingsFile.read(text, file: "plan.yaml") { (settings, _) throws(BotSettingsError) in
            try LoadPlan(settings: settings)
        }
        let logger = Logger(label: "load") { _ in SwiftLogNoOpLogHandler() }
        let test = try LoadTest(plan, text: text, name: "plan", directory: "unused", logger: logger)
        let error = await #expect(throws: LoadError.self) { _ = try await test.run() }
        #expect(error?.code == .noRelay)
        #expect(error?.message.contains("ws://127.0.0.1:1") == true)
    }

    @Test func aThresholdThatDoesNotHoldIsTold() async throws {
        let result = try await run(
            "  groups: { count: 1, sizes: { fixed: 2 } }", thresholds: #"join.p95: "< 1ms", deliver.p99: "< 1s""#)
        #expect(!result.passed)
        #expect(result.thresholds.map(\.passed) == [false, false])
    }
}
