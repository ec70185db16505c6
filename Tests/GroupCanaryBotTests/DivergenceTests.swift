import BotKit
import LiveTesting
import Testing

@testable import BotTesting
@testable import GroupCanaryBot

@Suite(.bounded)
struct DivergenceTests {
    /// A mirror that reports the given epoch.
    private func lyingMirror(_ stage: CanaryStage, epoch: @escaping @Sendable (UInt64) -> UInt64) async throws
        -> LabMember
    {
        try await stage.lab.member("bob") { event in
            guard case .message(let message) = event.content, message.kind == .canary,
                var canary = CanaryMessage(content: message.content)
            else { return [] }
            canary.view.epoch = epoch(canary.view.epoch)
            guard let content = try? canary.content else { return [] }
            return [
                HandlerEffect(
                    id: "bob/\(message.id.hex)",
                    operation: .send(
                        chatID: event.chatID, OutgoingMessage(kind: .canaryAnswer, content: content, tags: [])))
            ]
        }
    }

    @Test func detectsMirrorInAnotherEpoch() async throws {
        let stage = try CanaryStage(seed: 1)
        _ = try await lyingMirror(stage) { $0 + 3 }
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(65))
        #expect(stage.metrics.gauge("group_canary_diverged") == 1)
        #expect(stage.metrics.gauge("group_canary_delivery_ratio") == 1)
        #expect(try await !stage.reportsSuccess(sender))
        let epoch = try #require(try await stage.chat(of: sender)).epoch
        #expect(stage.lab.logLines.contains { $0.contains("is in epoch \(epoch + 3) or sees other members") })
    }

    @Test func clearsDivergenceOnAgreement() async throws {
        let stage = try CanaryStage(seed: 2)
        let clock = stage.lab.clock
        let end = clock.nowMilliseconds + 60_000
        _ = try await lyingMirror(stage) { clock.nowMilliseconds < end ? $0 + 1 : $0 }
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(55))
        #expect(stage.metrics.gauge("group_canary_diverged") == 1)
        try await stage.lab.advance(by: .seconds(40))
        #expect(stage.metrics.gauge("group_canary_diverged") == 0)
        #expect(try await stage.reportsSuccess(sender))
    }

    /// A mirror that answers once during a change, and then stops, counts as silent only.
    @Test func silentMirrorIsNotDiverged() async throws {
        let stage = try CanaryStage(seed: 4)
        let liar = try await lyingMirror(stage) { $0 + 1 }
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(25))
        liar.crash()
        try await stage.lab.advance(by: .seconds(120))
        #expect(stage.metrics.answers("in_order") == 1)
        #expect(stage.metrics.gauge("group_canary_diverged") == 0)
        #expect(try await !stage.reportsSuccess(sender))
    }

    /// A mirror whose store was restored to an earlier state disagrees with its group.
    @Test func detectsMirrorFromOldBackup() async throws {
        let stage = try CanaryStage(seed: 3)
        let bob = try await stage.mirror("bob")
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(35))
        let old = bob.store.snapshot()
        let chat = try #require(try await stage.chat(of: sender)).chatID
        stage.lab.network.onPublish { $0.sender == "bob" ? .lose : .deliver }
        for name in ["one", "two"] { try await sender.rename(chat, to: name) }
        try await stage.lab.advance(by: .seconds(60))
        #expect(try await !stage.reportsSuccess(sender))
        bob.crash()
        stage.lab.network.deliverEverything()
        try await bob.restart(from: old)
        try await stage.lab.advance(by: .seconds(180))
        // It has caught up from the relays and agrees with the group, or it is reported again.
        let isAgreed = try await stage.chat(of: bob)?.epoch == stage.chat(of: sender)?.epoch
        #expect(try await stage.reportsSuccess(sender) == isAgreed)
    }
}
