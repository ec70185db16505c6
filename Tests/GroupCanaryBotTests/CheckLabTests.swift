import BotKit
import LiveTesting
import Testing

@testable import BotTesting
@testable import GroupCanaryBot

/// Answers to `/ping`, or to everything if `talks` is set.
private struct Helper: Bot {
    static let name = "helper"
    let talks: Bool

    init(settings: BotSettings) throws { talks = settings["talks"]?.boolValue ?? false }

    var handlers: [Handler] {
        OnCommand("ping") { _, context in context.reply("Pong!") }
        if talks { OnMessage { _, context in context.reply("what?") } }
    }
}

@Suite(.bounded)
struct CheckLabTests {
    private static let checks: [BotSettings] = [
        ["name": "ping", "send": "/ping", "from": "helper", "answer": "pong", "within": "5s"],
        ["name": "quiet", "send": "hello", "silence": "5s"],
    ]

    /// A sender with a helper under its checks.
    private func stage(seed: UInt64, talks: Bool = false) async throws -> (CanaryStage, LabMember, LabMember) {
        let stage = try CanaryStage(seed: seed)
        _ = try await stage.mirror("bob")
        let helper = try await stage.lab.bot(Helper.self, name: "helper", settings: ["talks": .bool(talks)])
        // The helper answers bots too, but not twice within half a minute.
        let sender = try await stage.sender(
            peers: ["bob", "helper"], mirrors: ["bob"], checks: Self.checks, more: ["checksEvery": "35s"])
        return (stage, helper, sender)
    }

    private func result(_ stage: CanaryStage, _ check: String, _ result: String) -> Double {
        stage.metrics.count("group_canary_checks_total", ["check": check, "result": result])
    }

    @Test func passesCorrectBots() async throws {
        let (stage, _, sender) = try await stage(seed: 1)
        try await stage.lab.advance(by: .seconds(300))
        #expect(result(stage, "ping", "passed") >= 3 && result(stage, "ping", "failed") == 0)
        #expect(result(stage, "quiet", "passed") >= 3 && result(stage, "quiet", "failed") == 0)
        #expect(stage.metrics.gauge("group_canary_check_passed", ["check": "ping"]) == 1)
        #expect(stage.metrics.gauge("group_canary_check_passed", ["check": "quiet"]) == 1)
        #expect(try await stage.reportsSuccess(sender))
    }

    @Test func failsTalkativeBots() async throws {
        let (stage, _, sender) = try await stage(seed: 2, talks: true)
        try await stage.lab.advance(by: .seconds(200))
        #expect(result(stage, "ping", "passed") > 0)
        #expect(result(stage, "quiet", "failed") > 0 && result(stage, "quiet", "passed") == 0)
        #expect(stage.metrics.gauge("group_canary_check_passed", ["check": "quiet"]) == 0)
        #expect(try await !stage.reportsSuccess(sender))
        #expect(stage.lab.logLines.contains { $0.contains("check quiet failed: an answer arrived after") })
    }

    @Test func failsSilentBots() async throws {
        let (stage, helper, sender) = try await stage(seed: 3)
        try await stage.lab.advance(by: .seconds(120))
        #expect(try await stage.reportsSuccess(sender))
        helper.crash()
        try await stage.lab.advance(by: .seconds(120))
        #expect(result(stage, "ping", "failed") > 0)
        #expect(stage.metrics.gauge("group_canary_check_passed", ["check": "ping"]) == 0)
        // This check requires silence, so a crashed helper passes it.
        #expect(result(stage, "quiet", "failed") == 0)
    }

    @Test func skipsChecksMissedWhileOffline() async throws {
        let (stage, _, sender) = try await stage(seed: 4)
        try await stage.lab.advance(by: .seconds(120))
        sender.crash()
        try await stage.lab.advance(by: .seconds(600))
        try await sender.restart()
        try await stage.lab.advance(by: .seconds(200))
        #expect(result(stage, "ping", "failed") == 0 && result(stage, "quiet", "failed") == 0)
        #expect(try await stage.reportsSuccess(sender))
    }
}
