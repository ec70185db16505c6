import Nostr
import Testing

@testable import PikaCore

/// Clients' actions have a reply and, as an event, an outcome.
@Suite struct CommandOutcomeTests {
    private static let id = ActionID(rawValue: "daemon/command-7")
    private static let reply = "command/daemon/command-7"

    @Test func messageHasReplyAndOutcome() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        world.reduce(0, .command(.sendMessage(chatID: chat, .text("hi")), .command(Self.id), Self.id))
        guard case .queued(let messageID, _)? = world[0].outcomes[Self.reply] else {
            Issue.record("the reply is \(String(describing: world[0].outcomes[Self.reply]))")
            return
        }
        #expect(world[0].results.isEmpty)
        world.accept(0, try #require(world[0].publishing.last?.row))
        let outcome = try #require(world[0].results.first)
        #expect(outcome.action == Self.id && outcome.kind == "send_message")
        #expect(outcome.result == .delivered(messageID: messageID, relays: [ReducerWorld.relay]))
    }

    @Test func failureEndsBoth() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[1].chatID
        world.reduce(1, .command(.renameGroup(chatID: chat, name: "new"), .command(Self.id), Self.id))
        world.settle()
        #expect(world[1].outcomes[Self.reply]?.failure == .notAllowed)
        #expect(world[1].results.map(\.result.error?.code) == [.notAllowed])
    }

    @Test func repeatedKeyHasOneOutcome() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        for _ in 1...3 {
            world.reduce(0, .command(.sendMessage(chatID: chat, .text("hi")), .once("daemon/7"), Self.id))
            world.settle()
        }
        #expect(world[0].results.map(\.result.name) == ["delivered"])
        guard case .queued? = world[0].outcomes["once/daemon/7"] else {
            Issue.record("the repeated command has no reply")
            return
        }
    }

    @Test(arguments: [nil, "daemon/7"])
    func changeOutlastsRestart(key: String?) throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        let request = key.map { RequestID.once($0) } ?? .command(Self.id)
        world.reduce(0, .command(.renameGroup(chatID: chat, name: "new"), request, Self.id))
        try world.restart(0)
        world.connect(0)
        world.advance(seconds: 60)
        #expect(world[0].model.state.chatList.first?.name == "new")
        let results = world[0].results
        #expect(Set(results.map(\.action)) == [Self.id])
        #expect(results.allSatisfy { $0.result == .done })
        #expect(world[0].model.actions.isEmpty)
    }

    @Test func messageOutlastsRestart() throws {
        var world = try ReducerWorld.group(2)
        let chat = world[0].chatID
        world.reduce(0, .command(.sendMessage(chatID: chat, .text("hi")), .once("daemon/7"), Self.id))
        try world.restart(0)
        world.advance(seconds: 60)
        #expect(world[0].results.map(\.result.name) == ["delivered"])
    }

    @Test func refusedProfileLeavesNotice() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .saveProfile(ProfileDraft(name: "a")), "save")
        world.catchUp(0)
        let row = try #require(world[0].durable.state.outbox.first { $0.purpose == .profile })
        world.answer(0, row.id, .refused("blocked: no"))
        let notice = try #require(world[0].notices.last { $0.fate == .actionFailed })
        #expect(notice.event == row.event.id && notice.detail == "profile: blocked: no")
        #expect(notice.reason == "not_published")
    }
}

extension ReducerWorld.Account {
    /// The outcomes that were delivered to the handlers, in order.
    fileprivate var results: [OutcomeEvent] {
        self.delivered.compactMap { if case .outcome(let outcome) = $0.content { outcome } else { nil } }
    }
}
