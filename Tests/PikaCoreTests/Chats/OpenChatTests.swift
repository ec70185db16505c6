import LiveTesting
import Nostr
import Testing

@testable import PikaCore

/// The open chat: present exactly while it is on top, filled page by page, with its reactions.
@Suite struct OpenChatTests {
    private func holdsInvariant(_ state: AppState) -> Bool {
        if case .chat(let chatID) = state.router.top {
            state.currentChat?.chatID == chatID
        } else {
            state.currentChat == nil
        }
    }

    /// Two accounts in a group with this many messages, all sent by the first.
    private func world(_ count: Int) throws -> ReducerWorld {
        var world = try ReducerWorld.group(2)
        for number in 0..<count {
            world.now += 1000
            world.say(0, "\(number)")
        }
        world.settle()
        return world
    }

    private func texts(_ world: ReducerWorld, _ index: Int = 1) -> [String]? {
        world[index].model.state.currentChat?.messages.map(\.content)
    }

    @Test(arguments: 0..<10)
    func currentChatMatchesTopScreen(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var world = try self.world(3)
        world.act(0, .createGroupChat(name: "other", peers: [world[1].key]))
        world.settle()
        for _ in 0..<60 {
            let unknown: [ChatID] = ["none", ChatID(rawValue: String(repeating: "7", count: 64))]
            let chats = world[1].model.state.chatList.map(\.chatID) + unknown
            let chatID = try #require(chats.randomElement(using: &random))
            let other = try #require(chats.randomElement(using: &random))
            let screens: [AppState.Screen] = [
                .chat(chatID: chatID), .groupInfo(chatID: chatID), .newChat, .chat(chatID: other), .chatList,
            ]
            let actions: [AppAction] = [
                .popScreen, .popScreen, .openChat(chatID: chatID), .pushScreen(.groupInfo(chatID: chatID)),
                .pushScreen(.chat(chatID: chatID)), .setScreens(Array(screens.shuffled(using: &random).prefix(2))),
                .setScreens([]), .loadOlderMessages(chatID: chatID), .archiveChat(chatID: chatID, true),
                .sendMessage(chatID: chatID, .text("\(random.next())")), .clearToast,
            ]
            let action = try #require(actions.randomElement(using: &random))
            world.act(1, action)
            #expect(self.holdsInvariant(world[1].model.state), "after \(action)")
            if Bool.random(using: &random) {
                world.act(0, .rotateGroupID(chatID: try #require(world[0].model.state.chatList.first?.chatID)))
            }
            if Bool.random(using: &random) { world.settle() }
            #expect(self.holdsInvariant(world[1].model.state), "after \(action) and what came of it")
        }
    }

    @Test func screensAreReplacedAtOnce() throws {
        var world = try self.world(1)
        let chatID = world[1].chatID
        world.act(1, .setScreens([.newChat, .chat(chatID: chatID)]), "set")
        world.settle()
        #expect(world[1].outcomes["set"] == .done(chatID: nil))
        #expect(world[1].model.state.router.stack == [.newChat, .chat(chatID: chatID)])
        #expect(self.texts(world) == ["0"])
        let step = world.act(1, .setScreens([.chat(chatID: chatID)]))
        #expect(
            !step.effects.contains { if case .loadMessages = $0 { true } else { false } }, "an open chat needs no load")
        #expect(self.texts(world) == ["0"])
        world.act(1, .setScreens([]))
        #expect(world[1].model.state.currentChat == nil)
    }

    @Test func loadsOlderMessagesInPages() throws {
        var world = try self.world(130)
        let chatID = world[1].chatID
        let all = (0..<130).map(String.init)
        world.act(1, .openChat(chatID: chatID))
        world.act(1, .popScreen)
        world.act(1, .openChat(chatID: chatID))
        world.settle()
        #expect(self.texts(world) == Array(all.suffix(50)))
        #expect(world[1].model.state.currentChat?.canLoadOlder == true)
        world.act(1, .loadOlderMessages(chatID: chatID, limit: 30), "first")
        #expect(world[1].model.state.currentChat?.isLoadingOlder == true)
        world.act(1, .loadOlderMessages(chatID: chatID, limit: 30), "twice")
        #expect(world[1].outcomes["twice"]?.failure == .busy)
        world.say(0, "new")
        world.settle()
        #expect(world[1].outcomes["first"] == .done(chatID: chatID))
        #expect(self.texts(world) == Array(all.suffix(80)) + ["new"])
        #expect(world[1].model.state.currentChat?.isLoadingOlder == false)
        world.act(1, .loadOlderMessages(chatID: chatID))
        world.settle()
        #expect(self.texts(world) == all + ["new"])
        #expect(world[1].model.state.currentChat?.canLoadOlder == false)
        let step = world.act(1, .loadOlderMessages(chatID: chatID), "done")
        #expect(world[1].outcomes["done"] == .done(chatID: chatID))
        #expect(!step.effects.contains { if case .loadMessages = $0 { true } else { false } })
    }

    @Test func loadsOlderMessagesOnlyIntoOpenChat() throws {
        var world = try self.world(1)
        let chatID = world[1].chatID
        world.act(1, .loadOlderMessages(chatID: chatID), "closed")
        #expect(world[1].outcomes["closed"]?.failure == .notAllowed)
        world.act(1, .openChat(chatID: chatID))
        for limit in [0, -1, CoreModel.maximumShown + 1, .max] {
            world.act(1, .loadOlderMessages(chatID: chatID, limit: limit), "\(limit)")
            #expect(world[1].outcomes["\(limit)"]?.failure == .notAllowed)
        }
        world.act(1, .loadOlderMessages(chatID: "zz"), "unknown")
        #expect(world[1].outcomes["unknown"]?.failure == .unknownChat)
    }

    @Test func discardsPagesOfEarlierOpening() throws {
        var world = try self.world(80)
        let chatID = world[1].chatID
        world.act(1, .openChat(chatID: chatID))
        world.act(1, .popScreen)
        world.act(1, .openChat(chatID: chatID))
        world.settle()
        #expect(self.texts(world)?.count == 50)
        world.act(1, .loadOlderMessages(chatID: chatID), "older")
        world.act(1, .popScreen)
        world.act(1, .openChat(chatID: chatID))
        world.settle()
        #expect(world[1].outcomes["older"]?.failure == .notAllowed)
        #expect(self.texts(world) == (30..<80).map(String.init))
    }

    @Test func shownLimitGrowsWithLoadedPages() throws {
        var world = try self.world(CoreModel.maximumShown + 100)
        let chatID = world[1].chatID
        world.act(1, .openChat(chatID: chatID))
        world.settle()
        #expect(self.texts(world)?.count == CoreModel.maximumShown, "unread messages must be shown up to the maximum")
        world.act(1, .loadOlderMessages(chatID: chatID, limit: 60))
        world.settle()
        #expect(self.texts(world)?.count == CoreModel.maximumShown + 60)
        world.say(0, "new")
        world.settle()
        #expect(self.texts(world)?.count == CoreModel.maximumShown + 60)
        #expect(self.texts(world)?.first == "41" && self.texts(world)?.last == "new")
        world.act(1, .loadOlderMessages(chatID: chatID, limit: 500))
        world.settle()
        #expect(self.texts(world) == (0..<CoreModel.maximumShown + 100).map(String.init) + ["new"])
    }

    // MARK: Reactions

    @Test func reactionsAreCountedByEmoji() throws {
        var world = try ReducerWorld.group(3)
        world.say(0, "hello")
        world.settle()
        let id = try #require(world[0].durable.messages.first?.id)
        for index in 0..<3 { world.act(index, .openChat(chatID: world[index].chatID)) }
        for (index, emoji) in [(1, "+"), (2, "🦀"), (2, " + "), (1, "+"), (0, "+"), (2, "   ")] {
            world.now += 1000
            world.act(index, .reactToMessage(chatID: world[index].chatID, messageID: id, emoji: emoji))
            world.settle()
        }
        for index in 0..<3 {
            let reactions = try #require(world[index].model.state.currentChat?.messages.first?.reactions)
            #expect(reactions.map(\.emoji) == ["+", "🦀"] && reactions.map(\.count) == [3, 1])
            #expect(reactions[0].senders == [world[1].key, world[2].key, world[0].key])
            #expect(reactions.map(\.isOwn) == [true, index == 2])
        }
    }

    @Test func reactionsAppearWithTheirTarget() throws {
        var world = try self.world(80)
        let oldest = try #require(world[0].durable.messages.first?.id)
        let newest = try #require(world[0].durable.messages.last?.id)
        world.now += 1000
        for (id, emoji) in [(oldest, "a"), (oldest, "b"), (newest, "c")] {
            world.now += 1000
            world.act(0, .reactToMessage(chatID: world[0].chatID, messageID: id, emoji: emoji))
        }
        world.settle()
        // Read, so that the chat opens at its newest page.
        world.act(1, .openChat(chatID: world[1].chatID))
        world.act(1, .setScreens([]))
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        #expect(world[1].model.state.currentChat?.messages.last?.reactions.map(\.emoji) == ["c"])
        world.act(1, .reactToMessage(chatID: world[1].chatID, messageID: oldest, emoji: "b"))
        world.settle()
        world.act(1, .loadOlderMessages(chatID: world[1].chatID, limit: 100))
        world.settle()
        let first = try #require(world[1].model.state.currentChat?.messages.first)
        #expect(first.id == oldest && first.reactions.map(\.emoji) == ["a", "b"])
        #expect(first.reactions[1].senders == [world[0].key, world[1].key] && first.reactions[1].isOwn)
    }

    @Test func showsReplyTargetsAndSenderNames() throws {
        var world = try self.world(1)
        let first = try #require(world[0].durable.messages.first?.id)
        world.now += 1000
        world.act(
            1,
            .sendMessage(
                chatID: world[1].chatID,
                OutgoingMessage(
                    content: "answer", tags: [Tag("e", world[1].key.hex), Tag("e", first.hex), Tag("k", "9")])))
        world.act(1, .openChat(chatID: world[1].chatID))
        world.settle()
        let messages = try #require(world[1].model.state.currentChat?.messages)
        #expect(messages.map(\.replyTo) == [nil, first])
        #expect(messages.map(\.isOwn) == [false, true])
        #expect(messages.map(\.senderName) == world.accounts.map { String($0.key.npub.prefix(12)) })
        #expect(world[1].model.state.currentChat?.title == "Lab")
        #expect(world[1].model.state.currentChat?.isGroup == true && world[0].model.state.chatList[0].isAdmin)
        #expect(world[1].model.state.currentChat?.isAdmin == false)
    }
}
