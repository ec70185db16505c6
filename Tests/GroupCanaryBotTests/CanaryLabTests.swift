import BotDispatch
import BotKit
import LiveTesting
import Testing

@testable import BotTesting
@testable import GroupCanaryBot

@Suite(.bounded)
struct CanaryLabTests {
    @Test func senderCreatesGroupAndMirrorAnswers() async throws {
        let stage = try CanaryStage()
        let mirror = try await stage.mirror("bob")
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(125))
        let chat = try await stage.chat(of: mirror)
        #expect(chat?.name == "canary main" && chat?.allMembers.count == 2)
        // The first run founds the group; each of the eleven later ones sends.
        #expect(stage.metrics.answers("in_order") == 11)
        #expect(stage.metrics.roundTrips.count == 11 && stage.metrics.roundTrips.allSatisfy { $0 >= 0 && $0 < 5 })
        #expect(stage.metrics.gauge("group_canary_delivery_ratio") == 1)
        #expect(stage.metrics.gauge("group_canary_diverged") == 0)
        #expect(try await stage.reportsSuccess(sender))
        #expect(sender.heard().isEmpty && mirror.heard().isEmpty)
    }

    @Test(arguments: GroupGeneration.allCases)
    func measuresGroupsOfBothGenerations(_ generation: GroupGeneration) async throws {
        let stage = try CanaryStage(seed: 6)
        _ = try await stage.mirror("bob")
        let sender = try await stage.sender(
            peers: ["bob"], groupProtocol: generation == .v1 ? .v1 : .v2)
        try await stage.lab.advance(by: .seconds(65))
        let chat = try #require(try await stage.chat(of: sender))
        #expect(chat.generation == generation)
        #expect(stage.metrics.answers("in_order") == 5)
        // A change of the group does not count as divergence, even before all members have settled on it.
        try await sender.rename(chat.chatID, to: "renamed")
        try await stage.lab.advance(by: .seconds(40))
        #expect(stage.metrics.gauge("group_canary_diverged") == 0)
        #expect(stage.metrics.gauge("group_canary_halted") == 0)
        #expect(try await stage.reportsSuccess(sender))
    }

    @Test func otherGenerationNeedsAnotherGroup() async throws {
        let stage = try CanaryStage(seed: 7)
        _ = try await stage.mirror("bob")
        let sender = try await stage.sender(peers: ["bob"], groupProtocol: .v2)
        try await sender.perform(
            .createGroupChat(name: "canary main", peers: [stage.key("bob")], groupProtocol: .v1))
        try await stage.lab.advance(by: .seconds(35))
        let generations = try await sender.state().chatList.map(\.generation)
        #expect(Set(generations) == [.v1, .v2] && generations.count == 2)
        #expect(stage.metrics.answers("in_order") > 0)
    }

    @Test func measuresMirrorsSeparately() async throws {
        let stage = try CanaryStage(seed: 2)
        let bob = try await stage.mirror("bob")
        _ = try await stage.mirror("carol")
        let sender = try await stage.sender(peers: ["bob", "carol"])
        try await stage.lab.advance(by: .seconds(65))
        #expect(stage.metrics.answers("in_order") == 10)
        bob.crash()
        try await stage.lab.advance(by: .seconds(40))
        let ratio = try #require(stage.metrics.gauge("group_canary_delivery_ratio"))
        #expect(ratio < 0.95 && ratio > 0.5)
        #expect(try await !stage.reportsSuccess(sender))
        let line = stage.lab.logLines.first { $0.contains("are failing") } ?? ""
        #expect(line.contains("bob answered") && !line.contains(stage.key("bob").npub))
        // Messages received while it was offline are answered late, and count as delivered then.
        try await bob.restart()
        try await stage.lab.advance(by: .seconds(20))
        #expect(stage.metrics.answers("late") >= 3)
        #expect(stage.metrics.gauge("group_canary_delivery_ratio") == 1)
        #expect(try await stage.reportsSuccess(sender))
    }

    @Test func continuesAfterRestart() async throws {
        let stage = try CanaryStage(seed: 3)
        let mirror = try await stage.mirror("bob")
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(45))
        let before = stage.metrics.answers("in_order")
        #expect(before > 0)
        sender.crash()
        mirror.crash()
        try await sender.restart()
        try await mirror.restart()
        try await stage.lab.advance(by: .seconds(40))
        #expect(stage.metrics.answers("in_order") == before + 4)
        #expect(stage.metrics.answers("strange") + stage.metrics.answers("duplicate") == 0)
        #expect(try await sender.state().chatList.count == 1)
    }

    @Test func countsLostCanaries() async throws {
        let stage = try CanaryStage(seed: 4)
        _ = try await stage.mirror("bob")
        let sender = try await stage.sender(peers: ["bob"])
        try await stage.lab.advance(by: .seconds(25))
        stage.lab.network.onPublish { $0.sender == "bob" && $0.event.kind == .groupEvent ? .lose : .deliver }
        try await stage.lab.advance(by: .seconds(60))
        #expect(try #require(stage.metrics.gauge("group_canary_delivery_ratio")) < 0.5)
        #expect(try await !stage.reportsSuccess(sender))
    }

    @Test func ignoresStrangers() async throws {
        let stage = try CanaryStage(seed: 5)
        let mirror = try await stage.mirror("bob")
        let carol = try await stage.lab.member("carol")
        let sender = try await stage.sender(peers: ["bob", "carol"], mirrors: ["bob"])
        try await stage.lab.advance(by: .seconds(25))
        let chat = try #require(try await stage.chat(of: sender)).chatID
        let view = GroupView(epoch: 9, members: [])
        let canary = try CanaryMessage(series: "1", number: 1, view: view).content
        let before = stage.metrics.answers("in_order")
        for kind in [Kind.canary, .canaryAnswer] {
            try await carol.perform(
                .sendMessage(chatID: chat, OutgoingMessage(kind: kind, content: canary, tags: [])))
        }
        #expect(stage.metrics.answers("in_order") + stage.metrics.answers("strange") == before)
        #expect(
            carol.events.allSatisfy { event in
                guard case .message(let message) = event.content, message.kind == .canaryAnswer else { return true }
                return CanaryMessage(content: message.content)?.series != "1"
            })
        _ = mirror
    }
}
