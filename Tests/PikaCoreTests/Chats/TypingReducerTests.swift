import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Typing notices: sent rarely, shown briefly, never stored (docs/protocol/marmot.md §8.2).
@Suite struct TypingReducerTests {
    private func typing(_ world: ReducerWorld, _ index: Int) -> [PublicKey]? {
        world[index].model.state.currentChat?.typing.map(\.publicKey)
    }

    private func notice(at time: UnixTime, content: String = "typing", tag: String = "pika") -> OutgoingMessage {
        OutgoingMessage(kind: .typing, content: content, tags: [Nostr.Tag("d", tag), .expiration(at: time + 10)])
    }

    /// A group of three in which the second account shows the chat.
    private func world() throws -> ReducerWorld {
        var world = try ReducerWorld.group(3)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        return world
    }

    @Test func showsTypingForTenSecondsOnly() throws {
        var world = try self.world()
        let rows = world[0].durable.state.outbox
        let step = world.act(0, .typingStarted(chatID: world[0].chatID), "type")
        let sent = try #require(world[0].publishing.last?.event)
        #expect(world[0].outcomes["type"] == .done(chatID: world[0].chatID))
        #expect(sent.expiration == nil)
        #expect(!step.changes.contains { if case .putMessage = $0 { true } else { false } })
        #expect(!step.changes.contains { if case .putOutbox = $0 { true } else { false } })
        world.settle()
        #expect(self.typing(world, 1) == [world[0].key])
        #expect(world[0].durable.state.outbox == rows)
        #expect(world.accounts.allSatisfy { $0.durable.messages.isEmpty && $0.texts.isEmpty })
        #expect(world[1].model.state.chatList.first?.lastMessage == nil)
        #expect(world[2].model.state.chatList.first?.unreadCount == 0)
        world.advance(seconds: 9)
        #expect(self.typing(world, 1) == [world[0].key])
        world.advance(seconds: 1)
        #expect(self.typing(world, 1) == [])
        #expect(world[1].model.chats.typing.isEmpty && world[0].model.chats.typing.isEmpty)
    }

    @Test func innerEventMatchesWireFormat() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .typingStarted(chatID: world[0].chatID))
        let event = try #require(world[0].publishing.last?.event)
        var reader = try #require(world[1].group)
        guard case .message(let message) = reader.ingest(event, now: world.time) else {
            return #expect(Bool(false), "expected a message")
        }
        #expect(message.rumor.kind.rawValue == 20067)
        #expect(message.rumor.content == "typing")
        #expect(
            message.rumor.tags == [
                Nostr.Tag("d", "pika"), Nostr.Tag("expiration", "\(message.rumor.createdAt + 10)"),
            ])
        #expect(message.rumor.createdAt == world.time)
    }

    @Test func sendsNoticeAtMostEveryFiveSeconds() throws {
        var world = try self.world()
        for _ in 0..<3 { world.act(0, .typingStarted(chatID: world[0].chatID)) }
        #expect(world[0].publishing.count == 1)
        world.settle()
        world.now += 4999
        world.act(0, .typingStarted(chatID: world[0].chatID))
        #expect(world[0].publishing.isEmpty)
        world.now += 1
        world.act(0, .typingStarted(chatID: world[0].chatID))
        #expect(world[0].publishing.count == 1)
        world.settle()
        // The second notice extends the time.
        world.advance(seconds: 9)
        #expect(self.typing(world, 1) == [world[0].key])
        world.act(0, .typingStarted(chatID: "00"), "unknown")
        #expect(world[0].outcomes["unknown"]?.failure == .unknownChat)
    }

    @Test func messageEndsTypingOfSender() throws {
        var world = try self.world()
        for index in [0, 2] { world.act(index, .typingStarted(chatID: world[index].chatID)) }
        world.settle()
        #expect(Set(self.typing(world, 1) ?? []) == [world[0].key, world[2].key])
        world.act(0, .sendMessage(chatID: world[0].chatID, .reaction("+", to: try #require(world.relayed.last).id)))
        world.act(0, .sendHypernote(chatID: world[0].chatID, Hypernote(content: "note")))
        world.settle()
        #expect(Set(self.typing(world, 1) ?? []) == [world[0].key, world[2].key])
        world.say(0, "done")
        world.settle()
        #expect(self.typing(world, 1) == [world[2].key])
    }

    @Test func openedChatShowsTypingOfOthersOnly() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .typingStarted(chatID: world[0].chatID))
        world.settle()
        #expect(world[1].model.state.currentChat == nil)
        for index in 0...1 { world.act(index, .openChat(chatID: world[index].chatID)) }
        #expect(self.typing(world, 1) == [world[0].key])
        #expect(self.typing(world, 0) == [])
    }

    @Test func ignoresStaleFutureAndUnknownNotices() throws {
        var world = try self.world()
        let now = world.time
        let ways: [(OutgoingMessage, Int64)] = [
            (self.notice(at: now - 10), -10), (self.notice(at: now, content: "Typing"), 0),
            (self.notice(at: now, tag: "other"), 0),
        ]
        for (message, shift) in ways {
            world.now += shift * 1000
            world.act(0, .sendMessage(chatID: world[0].chatID, message))
            world.now -= shift * 1000
            world.settle()
            #expect(self.typing(world, 1) == [], "\(message)")
        }
        // A fast clock does not extend the time.
        world.now += 100_000
        world.act(0, .sendMessage(chatID: world[0].chatID, self.notice(at: now)))
        world.now -= 100_000
        world.settle()
        #expect(self.typing(world, 1) == [world[0].key])
        world.advance(seconds: 10)
        #expect(self.typing(world, 1) == [])
    }

    @Test func deliversUnknownTypingEventWithoutShowingIt() throws {
        var world = try self.world()
        world.act(0, .sendMessage(chatID: world[0].chatID, self.notice(at: world.time, content: "something")))
        world.settle()
        #expect(world[1].texts == ["something"])
        #expect(world[1].model.state.currentChat?.messages.isEmpty == true)
    }

    @Test func dropsUndeliverableNotice() throws {
        var world = try self.world()
        world.act(0, .typingStarted(chatID: world[0].chatID))
        let row = try #require(world[0].publishing.last).row
        world.accounts[0].due = []
        #expect(world[0].model.state.outbox.pending == 1)
        world.answer(0, row, .unreachable("gone"))
        #expect(world[0].model.state.outbox.pending == 1)
        #expect(world[0].durable.state.outbox.isEmpty)
        world.accounts[0].due = []
        let known = world.relayed.count
        world.now += 5000
        let timers = world[0].timers.filter { $0.timer == .typing }
        #expect(timers.map(\.time) == [world.now])
        let step = world.reduce(0, .timer(.typing))
        #expect(world[0].model.state.outbox.pending == 0)
        #expect(step.effects == [.note(.sendFailed(reason: "typing: no relay accepted it in time"))])
        world.advance(seconds: 60)
        #expect(world.relayed.count == known)
        // A refusal ends it too, without a report.
        world.act(0, .typingStarted(chatID: world[0].chatID))
        world.answer(0, try #require(world[0].publishing.last).row, .refused("blocked: no"))
        #expect(world[0].model.state.outbox.pending == 0 && world[0].model.state.toast == nil)
    }

    @Test func removalEndsTypingOfMember() throws {
        var world = try self.world()
        world.act(2, .typingStarted(chatID: world[2].chatID))
        world.settle()
        #expect(self.typing(world, 1) == [world[2].key])
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]))
        world.settle()
        #expect(self.typing(world, 1) == [])
    }
}
