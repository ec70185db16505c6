import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Data older than its retention period is deleted in small transactions.
@Suite struct RetentionReducerTests {
    private func world(_ policy: RetentionPolicy) throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        world.accounts[1].configuration.retention = policy
        return world
    }

    private func policy(
        messages: Duration? = nil, newest: Int? = nil, unhandled: Duration? = nil, maximum: Int = 10_000
    ) -> RetentionPolicy {
        RetentionPolicy(
            messages: messages, newestMessages: newest, unhandled: unhandled, maximumUnhandled: maximum)
    }

    /// Stored messages, one per second up to now.
    private func fill(_ world: inout ReducerWorld, _ count: Int) throws {
        let groupID = try #require(world[1].group?.groupID)
        for number in 0..<count {
            let rumor = UnsignedEvent(
                pubkey: world[0].key, createdAt: world.time - Int64(count - 1 - number), kind: .chatMessage,
                content: "\(number)")
            world.accounts[1].durable.messages.append(
                StoredMessage(
                    groupID: groupID, rumor: rumor, id: rumor.id, wrapper: rumor.id, epoch: 1, isOwn: false))
        }
    }

    private func texts(_ world: ReducerWorld) -> [String] {
        world[1].durable.messages.map(\.rumor.content).sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
    }

    @Test func deletesOldMessagesInBatches() throws {
        var world = try self.world(self.policy(messages: .seconds(100)))
        try self.fill(&world, 1000)
        try world.restart(1)
        world.settle()
        // Keeps the messages of the last 100 seconds and of the current second.
        #expect(self.texts(world) == (899..<1000).map(String.init))
        world.advance(seconds: 86_400)
        #expect(self.texts(world).isEmpty)
    }

    @Test func keepsNewestMessagesOfEachGroup() throws {
        var world = try self.world(self.policy(newest: 7))
        try self.fill(&world, 300)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        try world.restart(1)
        world.settle()
        #expect(self.texts(world) == (293..<300).map(String.init))
    }

    @Test func keepsEverythingByDefault() throws {
        var world = try self.world(.standard)
        try self.fill(&world, 300)
        try world.restart(1)
        world.settle()
        world.advance(seconds: 400 * 86_400)
        #expect(self.texts(world).count == 300)
    }

    @Test func screensDropDeletedMessages() throws {
        var world = try self.world(self.policy(messages: .seconds(3600)))
        try world.restart(1)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.say(0, "old")
        world.settle()
        #expect(world[1].model.state.currentChat?.messages.map(\.content) == ["old"])
        world.advance(seconds: 7 * 3600)
        #expect(world[1].model.state.currentChat?.messages.isEmpty == true)
        #expect(world[1].model.state.chatList.first?.lastMessage == nil && self.texts(world).isEmpty)
    }

    @Test func dropsAndCountsUnhandledEvents() throws {
        var world = try self.world(self.policy(unhandled: .seconds(86_400)))
        try world.restart(1)
        world.say(0, "one")
        world.settle()
        let rows = world[1].durable.state.inbox.count
        #expect(rows > 0)
        world.advance(seconds: 80_000)
        #expect(world[1].durable.state.inbox.count == rows)
        world.advance(seconds: 30_000)
        // Handlers are still working on the events.
        #expect(world[1].durable.state.inbox.count == rows)
        try world.restart(1)
        #expect(world[1].durable.state.inbox.isEmpty && world[1].model.inbox.isEmpty)
        #expect(world[1].notes.count { $0 == .droppedEvent(reason: "too_old") } == rows)
        // A late completion has no effect.
        let effect = HandlerEffect(
            id: "late", operation: .send(chatID: world[1].chatID, OutgoingMessage(content: "late")))
        let step = world.reduce(1, .handled(inboxID: world[1].delivered.last?.inboxID ?? 0, [effect]))
        #expect(step.changes.isEmpty)
    }

    @Test func dropsOldEventsInBatches() throws {
        var world = try self.world(self.policy(unhandled: .seconds(86_400)))
        let row = try #require(world[1].durable.state.inbox.first)
        for id in Int64(1000)..<1600 {
            world.accounts[1].durable.state.inbox.append(InboxRow(id: id, payload: row.payload))
        }
        world.now += 90_000_000
        try world.restart(1)
        #expect(world[1].durable.state.inbox.count == 601 - HandlerInbox.retentionBatch)
        world.advance(seconds: 2)
        #expect(world[1].durable.state.inbox.isEmpty)
        #expect(world[1].notes.count { $0 == .droppedEvent(reason: "too_old") } == 601)
    }

    @Test func boundsInbox() throws {
        var world = try self.world(self.policy(maximum: 3))
        try world.restart(1)
        world.accounts[1].delivered = []
        for number in 0..<6 { world.say(0, "\(number)") }
        world.settle()
        let ids = world[1].model.inbox.ids
        #expect(world[1].durable.state.inbox.map(\.id).sorted() == ids && ids.count == 3)
        #expect(world[1].notes.contains(.droppedEvent(reason: "too_many")))
        // Keeps the events in handlers and the newest ones. Handlers receive the newest next, never a dropped one.
        for id in ids { world.reduce(1, .handled(inboxID: id, [])) }
        #expect(world[1].texts == ["4", "5"])
    }

    @Test func keepsEventsThatHandlersHold() throws {
        var world = try self.world(self.policy(maximum: 8))
        try world.restart(1)
        for number in 0..<30 { world.say(0, "\(number)") }
        world.settle()
        let out = world[1].delivered.suffix(world[1].model.inbox.handedOutCount).map(\.inboxID)
        #expect(out.count == 1 && Set(out).isSubset(of: world[1].durable.state.inbox.map(\.id)))
        #expect(world[1].model.inbox.count == 8)
    }

    @Test func deliversEveryKeptEventOnceInOrder() throws {
        var world = try self.world(self.policy(maximum: 100))
        try world.restart(1)
        world.accounts[1].delivered = []
        let earlier = world[1].model.inbox.ids
        for number in 0..<80 { world.say(0, "\(number)") }
        world.settle()
        #expect(world[1].model.inbox.handedOutCount == 6, "one chat must get an eighth of the slots")
        var done = 0
        for id in earlier { world.reduce(1, .handled(inboxID: id, [])) }
        while done < world[1].delivered.count {
            world.reduce(1, .handled(inboxID: world[1].delivered[done].inboxID, []))
            done += 1
        }
        #expect(world[1].texts == (0..<80).map(String.init) && world[1].model.inbox.isEmpty)
    }
}
