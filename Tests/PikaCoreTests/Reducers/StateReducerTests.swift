import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct StateReducerTests {
    private func holdsInvariant(_ state: AppState) -> Bool {
        if case .chat(let chatID) = state.router.top {
            state.currentChat?.chatID == chatID
        } else {
            state.currentChat == nil
        }
    }

    @Test func theCurrentChatIsFilledExactlyWhenAChatIsOnTop() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "hello")
        world.settle()
        let chatID = world[1].chatID
        let actions: [AppAction] = [
            .popScreen, .openChat(chatID: chatID), .pushScreen(.groupInfo(chatID: chatID)), .popScreen,
            .pushScreen(.chat(chatID: "none")), .popScreen, .popScreen, .pushScreen(.newChat), .popScreen,
        ]
        for action in actions {
            world.act(1, action)
            world.settle()
            #expect(self.holdsInvariant(world[1].model.state), "after \(action)")
            if world[1].model.state.currentChat?.chatID == chatID {
                #expect(world[1].model.state.currentChat?.messages.map(\.content) == ["hello"], "after \(action)")
            }
        }
        world.act(1, .openChat(chatID: "00"), "unknown")
        #expect(world[1].outcomes["unknown"]?.failure == .unknownChat)
    }

    @Test func deliveryGoesFromPendingToSentOrFailed() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        world.say(0, "one")
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.pending])
        #expect(world[0].model.state.outbox.pending == 1)
        let first = try #require(world[0].publishing.last)
        world.answer(0, first.row, .accepted)
        #expect(world[0].model.state.currentChat?.messages.map(\.delivery) == [.sent])
        world.now += 1000
        world.say(0, "two")
        let second = try #require(world[0].publishing.last)
        world.answer(0, second.row, .refused("blocked: no"))
        #expect(world[0].model.state.currentChat?.messages.last?.delivery == .failed("blocked: no"))
        #expect(world[0].model.state.outbox.pending == 0)
    }

    @Test func snapshotsHoldNoSecrets() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.say(0, "hello")
        world.settle()
        for account in world.accounts {
            var text = ""
            dump(account.model.state, to: &text)
            text += String(describing: account.model.state) + String(reflecting: account.model.state)
            #expect(!text.contains(Hex.encode(account.keys.secretBytes)))
            #expect(!text.contains(account.keys.nsec))
            #expect(!text.contains("\(account.keys.secretBytes)"))
        }
    }

    @Test func anOpenChatKeepsItsNewestMessagesOnly() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .openChat(chatID: world[0].chatID))
        world.settle()
        for number in 0...CoreModel.maximumShown { world.say(0, "\(number)") }
        let view = try #require(world[0].model.state.currentChat)
        #expect(view.messages.count == CoreModel.maximumShown)
        #expect(view.canLoadOlder)
    }
}
