import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Messages and changes of history: withdrawn, restored, sent again, and held while commits are undecided.
@Suite struct WithdrawalReducerTests {
    /// A fork: accounts 0 and 2 follow a commit of 0, and account 1 two commits of its own, which win. Account 2 then
    /// sent a message on the losing branch; no account has received the other branch yet.
    private func fork(_ message: OutgoingMessage = OutgoingMessage(content: "hi")) throws -> ReducerWorld {
        var world = try SettlementReducerTests.world(3)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "left"), "left")
        world.advance(seconds: 2, offline: [1])
        world.act(2, .sendMessage(chatID: world[2].chatID, message), "message")
        world.settle(offline: [1])
        #expect(world[0].texts == [message.content] && world[1].texts.isEmpty)
        for name in ["right", "further right"] {
            world.act(1, .renameGroup(chatID: world[1].chatID, name: name), name)
            world.advance(seconds: 2, offline: [0, 2])
        }
        return world
    }

    private func join(_ world: inout ReducerWorld) {
        for event in world.relayed where event.kind == .groupEvent {
            for index in world.accounts.indices { world.receive(index, event) }
        }
    }

    @Test func losingMessageReturnsOnWinningBranch() throws {
        var world = try self.fork()
        let shown = world[0].durable.shown.count
        self.join(&world)
        world.advance(seconds: 12)
        #expect(SettlementReducerTests.names(world) == ["further right", "further right", "further right"])
        #expect(world[0].withdrawals.map(\.isRestored) == [false, true])
        #expect(world[0].withdrawals.first?.sender == world[2].key)
        #expect(world[0].texts == ["hi"] && world[1].texts == ["hi"])
        #expect(world[2].withdrawals.isEmpty)
        for account in world.accounts { #expect(account.durable.withdrawn.isEmpty) }
        #expect(world[0].durable.shown.count == shown)
    }

    @Test func announcementSurvivesCrash() throws {
        var world = try self.fork()
        self.join(&world)
        // Two passes end, because the first one makes the second commit readable. The process ends with them, before
        // anything was announced.
        for _ in 0..<2 {
            world.now += 1500
            for index in world.accounts.indices {
                for timer in world[index].timers {
                    if case .settlement = timer.timer { world.reduce(index, .timer(timer.timer)) }
                }
            }
        }
        #expect(world[0].withdrawals.isEmpty && !world[0].durable.withdrawn.isEmpty)
        for index in world.accounts.indices { try world.restart(index) }
        world.advance(seconds: 12)
        #expect(world[0].withdrawals.map(\.isRestored) == [false, true])
        #expect(world[1].texts == ["hi"])
    }

    @Test func openChatHidesWithdrawnMessages() throws {
        var world = try self.fork()
        world.act(0, .openChat(chatID: world[0].chatID), "open")
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.content) == ["hi"])
        world.accounts[2].due = []
        for event in world.relayed where event.kind == .groupEvent { world.receive(0, event) }
        world.advance(seconds: 2)
        #expect(world[0].model.state.currentChat?.messages.isEmpty == true)
        #expect(world[0].model.state.chatList.first?.lastMessage == nil)
    }

    // MARK: Own messages that are not sent again

    private func expectFailure(
        _ id: EventID, _ account: ReducerWorld.Account, _ refusal: ResendRefusal,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(account.reports[id]?.last == .failed(refusal.reason), sourceLocation: sourceLocation)
        let groupID = try #require(account.second?.groupID, sourceLocation: sourceLocation)
        #expect(
            account.model.delivery.failure(of: id, in: groupID)?.reason == refusal.reason,
            sourceLocation: sourceLocation)
        // It is shown as failed.
        #expect(account.durable.shown.contains { $0.id == id }, sourceLocation: sourceLocation)
    }

    @Test func messageFailsIfItsAuthorWasRemoved() throws {
        var world = try SettlementReducerTests.world(3)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "left"), "left")
        world.advance(seconds: 2, offline: [1])
        world.say(2, "hi")
        world.settle(offline: [1])
        let id = try #require(world[2].durable.messages.last { $0.isOwn }?.id)
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "right"), "right")
        world.advance(seconds: 2, offline: [0, 2])
        world.act(1, .removeGroupMembers(chatID: world[1].chatID, peers: [world[2].key]), "remove")
        world.advance(seconds: 2, offline: [0, 2])
        self.join(&world)
        world.advance(seconds: 12)
        #expect(world[2].second?.isActive == false && world[1].texts.isEmpty)
        try self.expectFailure(id, world[2], .membershipEnded)
        try world.restart(2)
        try self.expectFailure(id, world[2], .membershipEnded)
    }

    @Test func messageWithFilesOfLosingBranchFails() throws {
        let (ab, cd) = (String(repeating: "ab", count: 32), String(repeating: "cd", count: 32))
        let file = Nostr.Tag(values: [
            "imeta", "v encrypted-media-v2", "locator blossom-v1 https://media.example/\(ab).bin",
            "ciphertext_sha256 \(ab)", "plaintext_sha256 \(cd)", "nonce efefefefefefefefefefefef", "m image/jpeg",
            "filename photo.jpg",
        ])
        var world = try self.fork(OutgoingMessage(content: "look", tags: [file]))
        let id = try #require(world[2].durable.messages.last { $0.isOwn }?.id)
        self.join(&world)
        world.advance(seconds: 12)
        #expect(SettlementReducerTests.names(world) == ["further right", "further right", "further right"])
        #expect(world[1].texts.isEmpty)
        try self.expectFailure(id, world[2], .filesLost)
        world.act(2, .retryMessage(chatID: world[2].chatID, messageID: id), "retry")
        world.settle()
        #expect(world[2].outcomes["retry"]?.failure == .notAllowed)
        try self.expectFailure(id, world[2], .filesLost)
    }

    @Test func messageFailsAfterManyRepeats() throws {
        var world = try self.fork()
        let message = try #require(world[2].durable.messages.last { $0.isOwn })
        var step = CoreStep.at(world.now)
        for _ in 0..<Withdrawals.maximumRepeats {
            _ = world.accounts[2].model.settlement.withdrawals.countRepeats(
                [message.id], in: message.epoch, of: message.groupID, &step)
        }
        self.join(&world)
        world.advance(seconds: 12)
        #expect(world[1].texts.isEmpty)
        try self.expectFailure(message.id, world[2], .tooOften)
        // Its sender may still decide to send it.
        world.act(2, .retryMessage(chatID: world[2].chatID, messageID: message.id), "retry")
        world.advance(seconds: 1)
        #expect(world[1].texts == ["hi"] && world[2].reports[message.id]?.last == .sent)
    }

    // MARK: Held messages

    @Test func messagesWaitForPass() throws {
        var world = try SettlementReducerTests.world(2)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        world.say(1, "one")
        world.say(1, "two")
        world.settle()
        #expect(world[1].outcomes["one"] == nil && world[0].texts.isEmpty)
        world.advance(seconds: 2)
        #expect(world[0].texts == ["one", "two"])
        guard case .queued(let id, _)? = world[1].outcomes["one"] else {
            Issue.record("expected a queued message")
            return
        }
        #expect(world[1].durable.messages.contains { $0.id == id && $0.epoch == world[1].second?.tip.epoch })
    }

    @Test func heldMessagesSurviveRestart() throws {
        var world = try SettlementReducerTests.world(2)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        world.say(1, "one")
        world.say(1, "two")
        try world.restart(1)
        world.advance(seconds: 6)
        #expect(world[0].texts == ["one", "two"])
        #expect(world[1].durable.state.memos.keys.allSatisfy { $0.kind != .heldMessage })
    }

    @Test func longHeldMessagesGetNewTime() throws {
        var world = try SettlementReducerTests.world(2)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        world.say(1, "one")
        // The process does not run for an hour.
        world.now += 3_600_000
        try world.restart(1)
        let start = world.time
        world.advance(seconds: 6)
        #expect(world[0].texts == ["one"] && world[1].outcomes["one"]?.failure == nil)
        let own = try #require(world[1].durable.messages.last { $0.isOwn })
        #expect(own.rumor.createdAt >= start && own.rumor.content == "one")
    }

    @Test func longHeldMessagesKeepTheirOrder() throws {
        var world = try SettlementReducerTests.world(2)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        world.say(1, "one")
        world.now += 50_000
        world.say(1, "two")
        // The first message has waited too long now, the second one has not.
        world.now += 20_000
        try world.restart(1)
        world.advance(seconds: 6)
        let own = world[1].durable.messages.filter(\.isOwn)
        #expect(own.map(\.rumor.content) == ["one", "two"] && world[0].texts == ["one", "two"])
        #expect(own.count == 2 && own[0].rumor.createdAt < own[1].rumor.createdAt)
    }

    @Test func messagesOfOneSecondKeepTheirOrder() throws {
        var world = try SettlementReducerTests.world(2)
        for number in 0..<6 { world.say(1, "\(number)") }
        world.settle(offline: [0])
        world.connect(0)
        world.advance(seconds: 1)
        #expect(world[0].texts == (0..<6).map { "\($0)" })
    }

    @Test func heldMessagesFailAfterRemoval() throws {
        var world = try SettlementReducerTests.world(3)
        world.act(
            0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "remove")
        world.settle()
        world.say(2, "one")
        #expect(world[2].outcomes["one"] == nil)
        world.advance(seconds: 2)
        #expect(world[2].outcomes["one"]?.failure == .notAllowed)
        #expect(world[2].model.state.chatList.first?.endReason == .removed(by: world[0].key))
    }
}
