import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Expired messages are deleted everywhere on time (docs/protocol/marmot.md §5.9, NIP-40).
@Suite struct ExpiryReducerTests {
    private func world(timer: UInt64?) throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        guard let timer, var data = world[0].group?.data else { return world }
        data.disappearingSeconds = timer
        world.change(0, to: data)
        world.settle()
        #expect(world[1].group?.data.disappearingSeconds == timer)
        return world
    }

    private func texts(_ world: ReducerWorld, _ index: Int) -> [String] {
        world[index].durable.messages.map(\.rumor.content)
    }

    @Test func timedMessagesDisappearForBothMembers() throws {
        var world = try self.world(timer: 60)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.say(0, "one")
        world.advance(seconds: 30)
        world.say(0, "two")
        world.settle()
        #expect(world[1].texts == ["one", "two"])
        #expect(world.relayed.last?.expiration == world.time + 60)
        for index in 0...1 { #expect(self.texts(world, index) == ["one", "two"]) }
        world.advance(seconds: 29)
        for index in 0...1 { #expect(self.texts(world, index) == ["one", "two"]) }
        world.advance(seconds: 1)
        for index in 0...1 { #expect(self.texts(world, index) == ["two"]) }
        #expect(world[1].model.state.currentChat?.messages.map(\.content) == ["two"])
        #expect(world[1].model.state.chatList.first?.lastMessage == "two")
        world.advance(seconds: 30)
        for index in 0...1 {
            #expect(self.texts(world, index).isEmpty)
            #expect(world[index].model.state.chatList.first?.lastMessage == nil)
        }
        #expect(world[1].model.state.currentChat?.messages.isEmpty == true)
    }

    @Test func keepsMessagesWithoutTimer() throws {
        var world = try self.world(timer: nil)
        world.say(0, "stays")
        world.settle()
        #expect(world.relayed.last?.expiration == nil)
        #expect(!world[0].timers.contains { $0.timer == .expiry })
        world.advance(seconds: 1_000_000)
        #expect(self.texts(world, 0) == ["stays"] && self.texts(world, 1) == ["stays"])
    }

    @Test func deletesMessagesExpiredWhileDownAtStart() throws {
        var world = try self.world(timer: 60)
        world.say(0, "one")
        world.settle()
        world.now += 100_000
        try world.restart(1)
        world.advance(seconds: 0)
        #expect(self.texts(world, 1).isEmpty)
    }

    @Test func refusesMessageExpiredBeforeArrival() throws {
        var world = try self.world(timer: 60)
        world.say(0, "late")
        let event = try #require(world[0].publishing.last?.event)
        world.now += 61_000
        world.receive(1, event)
        #expect(self.texts(world, 1).isEmpty && world[1].texts.isEmpty)
        #expect(world[1].notes.contains(.refused(reason: "expired", detail: "the message expired before it arrived")))
        world.receive(1, event)
        #expect(world[1].texts.isEmpty)
    }

    @Test func honoursExpirationOfInnerEvent() throws {
        var world = try self.world(timer: nil)
        let end = world.time + 10
        world.act(
            0,
            .sendMessage(
                chatID: world[0].chatID,
                OutgoingMessage(content: "short", tags: [.expiration(at: end)])))
        world.say(0, "stays")
        world.settle()
        // Only the inner event has the expiration (docs/protocol/marmot.md §5.9).
        #expect(world.relayed.allSatisfy { $0.kind != .groupEvent || $0.expiration == nil })
        #expect(self.texts(world, 1) == ["short", "stays"])
        world.advance(seconds: 10)
        for index in 0...1 { #expect(self.texts(world, index) == ["stays"]) }
    }

    @Test func toleratesExtremeExpirations() throws {
        var world = try self.world(timer: nil)
        for end in [UnixTime.distantFuture, UnixTime.distantFuture - 1, UnixTime(.max / 1000)] {
            world.act(
                0,
                .sendMessage(
                    chatID: world[0].chatID, OutgoingMessage(content: "\(end)", tags: [.expiration(at: end)])))
        }
        world.settle()
        world.advance(seconds: 3 * 86_400)
        #expect(self.texts(world, 0).count == 3 && self.texts(world, 1).count == 3)
        // At most one check a day.
        #expect(world[1].timers.filter { $0.timer == .expiry }.count == 1)
    }
}
