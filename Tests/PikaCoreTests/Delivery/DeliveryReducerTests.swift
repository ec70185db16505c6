import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Delivery of this account's messages: reported once each, remembered if it failed, and retried.
@Suite struct DeliveryReducerTests {
    private func reports(_ step: CoreStep) -> [AppState.Delivery] {
        step.effects.compactMap { if case .report(_, _, let delivery) = $0 { delivery } else { nil } }
    }

    private func isQueued(_ outcome: ActionOutcome?, _ id: EventID) -> Bool {
        if case .queued(id, _) = outcome { true } else { false }
    }

    /// Two accounts in a group; the first has the chat open and has sent a message that every relay refused.
    private func failed() throws -> (world: ReducerWorld, id: EventID) {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        world.say(0, "hello")
        let row = try #require(world[0].publishing.last?.row)
        world.answer(0, row, .refused("blocked: no"))
        world.accounts[0].due = []
        return (world, try #require(world[0].durable.messages.last?.id))
    }

    @Test func failureSurvivesRestart() throws {
        var (world, id) = try self.failed()
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.failed("blocked: no")])
        try world.restart(0)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.failed("blocked: no")])
        #expect(world[0].model.state.currentChat?.messages.map(\.id) == [id])
        #expect(world[0].model.state.outbox.pending == 0)
    }

    private func deliveries(_ world: inout ReducerWorld, _ index: Int) -> [AppState.Delivery] {
        let step = world.reduce(index, .queryDeliveries(7, world[index].durable.messages))
        for case .answerDeliveries(7, let found) in step.effects { return found }
        return []
    }

    @Test func queriesTellDeliveryOfStoredMessages() throws {
        var (world, _) = try self.failed()
        #expect(self.deliveries(&world, 0) == [.failed("blocked: no")])
        world.say(0, "second")
        #expect(self.deliveries(&world, 0) == [.failed("blocked: no"), .pending])
        world.settle()
        #expect(self.deliveries(&world, 0) == [.failed("blocked: no"), .sent])
        #expect(self.deliveries(&world, 1) == [.received])
    }

    @Test func pendingMessagesStayPendingAfterRestart() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "waits")
        try world.restart(0)
        world.accounts[0].due.removeAll { if case .publish = $0 { true } else { false } }
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.pending])
    }

    @Test(arguments: [false, true])
    func retryKeepsMessageID(restarts: Bool) throws {
        var (world, id) = try self.failed()
        // The group has long left the message's epoch.
        for number in 0..<7 {
            world.act(1, .updateGroupKeys(chatID: world[1].chatID), "\(number)")
            world.settle()
        }
        if restarts {
            try world.restart(0)
            world.act(0, .openChat(chatID: world[0].chatID))
            world.settle()
        }
        world.act(0, .retryMessage(chatID: world[0].chatID, messageID: id), "retry")
        let epoch = try #require(world[0].group?.epoch)
        world.settle()
        #expect(self.isQueued(world[0].outcomes["retry"], id))
        #expect(world[1].texts == ["hello"])
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.sent])
        #expect(world[0].durable.messages.map(\.epoch) == [epoch] && world[0].durable.messages.map(\.id) == [id])
        #expect(world[0].model.delivery.failedCount == 0)
        #expect(!world[0].durable.state.memos.keys.contains { $0.kind == .failedMessage })
        world.act(0, .retryMessage(chatID: world[0].chatID, messageID: id), "again")
        #expect(world[0].outcomes["again"]?.failure == .unknownMessage)
    }

    @Test func mergesConcurrentRetries() throws {
        var (world, id) = try self.failed()
        world.act(0, .retryMessage(chatID: world[0].chatID, messageID: id), "one")
        world.act(0, .retryMessage(chatID: world[0].chatID, messageID: id), "two")
        world.settle()
        #expect(self.isQueued(world[0].outcomes["one"], id))
        #expect(world[0].outcomes["two"]?.failure == .notAllowed)
        #expect(world[1].texts == ["hello"])
    }

    @Test func retriesOnlyFailedMessages() throws {
        var (world, id) = try self.failed()
        let chatID = world[0].chatID
        world.say(0, "waits")
        let pending = try #require(world[0].durable.messages.last?.id)
        world.act(0, .retryMessage(chatID: chatID, messageID: pending), "pending")
        #expect(world[0].outcomes["pending"]?.failure == .notAllowed)
        world.settle()
        world.act(0, .retryMessage(chatID: chatID, messageID: pending), "sent")
        #expect(world[0].outcomes["sent"]?.failure == .unknownMessage)
        world.act(0, .retryMessage(chatID: "none", messageID: id), "elsewhere")
        #expect(world[0].outcomes["elsewhere"]?.failure == .unknownChat)
        // The store no longer has it.
        world.accounts[0].durable.messages = []
        world.act(0, .retryMessage(chatID: chatID, messageID: id), "gone")
        world.settle()
        #expect(world[0].outcomes["gone"]?.failure == .unknownMessage)
        #expect(world[0].model.delivery.failedCount == 0)
        world.act(1, .retryMessage(chatID: world[1].chatID, messageID: pending), "theirs")
        #expect(world[1].outcomes["theirs"]?.failure == .unknownMessage)
    }

    @Test func removedMemberCannotRetry() throws {
        var (world, id) = try self.failed()
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[1].key]))
        world.settle()
        world.act(1, .removeGroupMembers(chatID: world[1].chatID, peers: [world[0].key]))
        world.settle()
        world.act(0, .retryMessage(chatID: world[0].chatID, messageID: id), "retry")
        #expect(world[0].outcomes["retry"]?.failure == .notAllowed)
    }

    @Test func keepsLatestFailuresOnly() throws {
        var world = try ReducerWorld.group(2)
        for number in 0...FailedMessage.maximumCount {
            world.now += 1000
            world.say(0, "\(number)")
            let row = try #require(world[0].publishing.last?.row)
            world.answer(0, row, .refused("blocked: no"))
        }
        #expect(world[0].model.delivery.failedCount == FailedMessage.maximumCount)
        #expect(world[0].durable.state.memos.keys.count { $0.kind == .failedMessage } == FailedMessage.maximumCount)
        let groupID = try #require(world[0].group?.groupID)
        #expect(world[0].model.delivery.failure(of: world[0].durable.messages[0].id, in: groupID) == nil)
        #expect(world[0].model.delivery.failure(of: world[0].durable.messages[1].id, in: groupID) != nil)
    }

    // MARK: Reports

    @Test func eachOutcomeIsReportedOnce() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "one")
        let first = try #require(world[0].publishing.last)
        #expect(
            self.reports(
                world.reduce(
                    0,
                    .published(
                        row: first.row, PublishReport(relay: ReducerWorld.relay, outcome: .accepted)))) == [.sent])
        #expect(
            self.reports(
                world.reduce(
                    0,
                    .published(
                        row: first.row, PublishReport(relay: ReducerWorld.relay, outcome: .accepted)))) == [])
        #expect(self.reports(world.reduce(0, .publishEnded(row: first.row, relays: [ReducerWorld.relay]))) == [])
        world.receive(0, first.event)
        #expect(world[0].reports.values.map(\.count) == [1], "an echo must not report a second outcome")
    }

    @Test func echoSettlesMessageAfterLostAnswer() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        world.say(0, "hello")
        let sent = try #require(world[0].publishing.last)
        world.accounts[0].due = []
        world.reduce(0, .publishEnded(row: sent.row, relays: [ReducerWorld.relay]))
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.pending])
        world.receive(0, sent.event)
        let id = try #require(world[0].durable.messages.last?.id)
        #expect(world[0].reports == [id: [.sent]])
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.sent])
        #expect(world[0].model.state.outbox.pending == 0)
        world.accept(0, sent.row)
        #expect(world[0].reports == [id: [.sent]], "a late answer must not report a second outcome")
    }

    /// Two members commit at the same time; messages of the losing branch are resent in the winning one.
    @Test func reportsResealedMessageOnce() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: world.accounts.map(\.key)))
        world.settle()
        var rolledBack = 0
        for round in 0..<8 {
            // Far enough apart that neither member backs off.
            world.now += (RollbackRecord.window + 1) * 1000
            for index in 0..<2 {
                world.act(index, .renameGroup(chatID: world[index].chatID, name: "\(round) \(index)"))
            }
            let commits = (0..<2).map { world[$0].publishing.last }
            for index in 0..<2 {
                world.accounts[index].due = []
                world.accept(index, try #require(commits[index]?.row))
                // Each sends a message in its own branch, and a relay accepts it.
                world.say(index, "\(round) by \(index)")
                let message = try #require(world[index].publishing.last)
                world.answer(index, message.row, .accepted)
                world.relayed.append(message.event)
            }
            for index in 0..<3 { for commit in commits { world.receive(index, try #require(commit?.event)) } }
            for event in world.relayed.suffix(2) { for index in 0..<3 { world.receive(index, event) } }
            for index in 0..<2 {
                rolledBack += world[index].due.count { if case .loadSent = $0 { true } else { false } }
            }
            world.settle()
            for index in 0..<2 {
                let own = world[index].durable.messages.filter { $0.isOwn && $0.rumor.content.hasPrefix("\(round) ") }
                #expect(own.count == 1)
                for message in own { #expect(world[index].reports[message.id] == [.sent], "round \(round)") }
            }
            #expect(Set(world.accounts.map { $0.group?.epoch }).count == 1)
        }
        #expect(rolledBack >= 8, "each round must have a loser")
        #expect(world[2].texts.sorted() == (0..<8).flatMap { ["\($0) by 0", "\($0) by 1"] })
    }

    @Test func tracksEqualMessagesPerGroup() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .createGroupChat(name: "other", peers: [world[1].key]))
        world.settle()
        let chats = world[0].model.state.chatList.map(\.chatID)
        for chatID in chats { world.act(0, .sendMessage(chatID: chatID, .text("same words"))) }
        #expect(Set(world[0].durable.messages.map(\.id)).count == 1)
        let rows = world[0].publishing
        world.answer(0, try #require(rows.first?.row), .refused("blocked: no"))
        world.answer(0, try #require(rows.last?.row), .accepted)
        var shown: [AppState.Delivery?] = []
        for chatID in chats {
            world.act(0, .setScreens([.chat(chatID: chatID)]))
            world.settle()
            shown.append(world[0].model.state.currentChat?.messages.first?.delivery)
        }
        #expect(Set(shown) == [.sent, .failed("blocked: no")])
    }
}
