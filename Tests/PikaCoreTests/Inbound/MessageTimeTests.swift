import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// The time of an inner event is its author's claim: it must not determine order, expiry or cursors.
@Suite struct MessageTimeTests {
    /// Sends a message of account 0 with another claimed time.
    private func send(_ text: String, claiming time: UnixTime, _ world: inout ReducerWorld) throws {
        let group = try #require(world[0].group)
        let rumor = UnsignedEvent(pubkey: world[0].key, createdAt: time, kind: .chatMessage, content: text)
        let now = world.time
        let sealed = try world.accounts[0].model.groups[first: group.groupID]?.seal(
            rumor, now: now, using: &world.random)
        world.receive(1, try #require(sealed))
    }

    private func stored(_ text: String, _ world: ReducerWorld) -> StoredMessage? {
        world[1].durable.messages.first { $0.rumor.content == text }
    }

    @Test(arguments: [.distantFuture, UnixTime.distantFuture - 1, 32_503_680_000] as [UnixTime])
    func futureMessagesAreOrderedByArrival(_ claimed: UnixTime) throws {
        var world = try ReducerWorld.group(2)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        try self.send("from the year 3000", claiming: claimed, &world)
        #expect(self.stored("from the year 3000", world)?.time == world.time + 300)
        #expect(
            world[1].delivered.contains {
                if case .message(let message) = $0.content { message.createdAt == claimed } else { false }
            })
        world.now += 301_000
        try self.send("honest", claiming: world.time, &world)
        let shown = world[1].model.state.currentChat?.messages
        #expect(shown?.map(\.content) == ["from the year 3000", "honest"])
        #expect(shown?.first?.createdAt == claimed)
        #expect(world[1].model.state.chatList.first?.lastMessage == "honest")
    }

    @Test func oldMessagesStayInTheWindow() throws {
        var world = try ReducerWorld.group(2)
        try self.send("from 1970", claiming: 0, &world)
        try self.send("a week late", claiming: world.time - 604_800, &world)
        #expect(self.stored("from 1970", world)?.time == world.time - 3_888_000)
        #expect(self.stored("a week late", world)?.time == world.time - 604_800)
    }

    @Test func timersStartNoLaterThanArrival() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .setDisappearingMessages(chatID: world[0].chatID, seconds: 60), "timer")
        world.settle()
        try self.send("for ever", claiming: .distantFuture, &world)
        try self.send("for long", claiming: 32_503_680_000, &world)
        for text in ["for ever", "for long"] {
            #expect(self.stored(text, world)?.expiresAt == world.time + 360)
        }
        world.advance(seconds: 361, offline: [0])
        #expect(world[1].durable.messages.isEmpty)
    }

    @Test func futureInvitationsHideNothing() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.now += 864_000_000
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle(offline: [1])
        world.now -= 864_000_000
        for event in world.relayed.filter({ $0.kind == .giftWrap }) { world.receive(1, event) }
        world.settle()
        let groupID = try #require(world[1].group?.groupID)
        #expect(world[1].durable.state.cursors[Cursors.joined(groupID)] == world.time.seconds)
        world.say(0, "hello")
        world.settle(offline: [1])
        try world.restart(1)
        world.connect(1)
        #expect(world[1].texts == ["hello"])
    }
}
