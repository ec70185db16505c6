import LiveTesting
import MLS
import Nostr
import Testing

@testable import PikaCore

/// The chat list: its content, its order, and its equality after a restart.
@Suite struct ChatListReducerTests {
    private func chat(_ world: ReducerWorld, _ index: Int) throws -> AppState.ChatSummary {
        try #require(world[index].model.state.chatList.first)
    }

    @Test func groupShowsNameMembersAndAdmins() throws {
        let world = try ReducerWorld.group(3)
        for index in 0..<3 {
            let chat = try self.chat(world, index)
            #expect(chat.isGroup && chat.displayName == "Lab" && chat.subtitle == "3 members")
            #expect(chat.allMembers.map(\.publicKey) == world.accounts.map(\.key))
            #expect(chat.members.map(\.publicKey) == world.accounts.map(\.key).filter { $0 != world[index].key })
            #expect(chat.me == chat.allMembers[index] && chat.groupName == "Lab")
            #expect(chat.allMembers.filter(\.isAdmin).map(\.publicKey) == [world[0].key])
            #expect(chat.isAdmin == (index == 0) && chat.isActive && chat.endReason == nil)
            #expect(chat.members.allSatisfy { $0.name == nil })
        }
    }

    @Test func directChatShowsPeer() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createChat(peer: world[1].key), "create")
        world.settle()
        for index in 0..<2 {
            let chat = try self.chat(world, index)
            #expect(!chat.isGroup && chat.isAdmin && chat.allMembers.allSatisfy(\.isAdmin) && chat.groupName == nil)
            #expect(chat.displayName == String(world[1 - index].key.npub.prefix(12)) && chat.subtitle == nil)
        }
    }

    @Test func unnamedGroupShowsMemberCount() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .renameGroup(chatID: world[0].chatID, name: ""))
        world.settle()
        #expect(try self.chat(world, 2).displayName == "Group (3)")
    }

    @Test func countsUnreadUntilChatIsOpened() throws {
        var world = try ReducerWorld.group(2)
        world.say(0, "one")
        world.now += 1000
        world.say(0, "two")
        let first = try #require(world[0].durable.messages.first?.id)
        world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(kind: .hypernote, content: "<Card/>")))
        world.act(0, .reactToMessage(chatID: world[0].chatID, messageID: first, emoji: "+"))
        for kind: Kind in [.typing, 9468, 0, 30_000] {
            world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(kind: kind, content: "x")))
        }
        world.settle()
        #expect(try self.chat(world, 1).unreadCount == 3)
        #expect(try self.chat(world, 1).firstUnread == first)
        #expect(try self.chat(world, 0).unreadCount == 0, "an account's own messages must count as read")
        #expect(try self.chat(world, 0).firstUnread == nil)
        world.act(1, .openChat(chatID: world[1].chatID))
        #expect(try self.chat(world, 1).unreadCount == 0 && self.chat(world, 1).firstUnread == nil)
        #expect(world[1].model.state.currentChat?.firstUnread == first)
        world.say(0, "three")
        world.settle()
        #expect(try self.chat(world, 1).unreadCount == 0, "messages of an open chat must count as read")
        #expect(world[1].model.state.currentChat?.firstUnread == first)
    }

    @Test func restartRestoresChatList() throws {
        var world = try ReducerWorld.group(3)
        world.say(0, "one")
        world.settle()
        world.act(1, .archiveChat(chatID: world[1].chatID, true), "archive")
        #expect(world[1].outcomes["archive"] == .done(chatID: world[1].chatID))
        world.act(2, .openChat(chatID: world[2].chatID))
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]))
        world.settle()
        for index in 0..<3 {
            let before = world[index].model.state.chatList
            #expect(before.count == 1 && before.first?.lastMessage == "one")
            try world.restart(index)
            #expect(world[index].model.state.chatList == before, "account \(index)")
        }
        #expect(try self.chat(world, 1).isArchived && self.chat(world, 1).unreadCount == 1)
        #expect(try self.chat(world, 2).endReason == .removed(by: world[0].key))
    }

    @Test func newMessageUnarchivesChat() throws {
        var world = try ReducerWorld.group(2)
        for index in 0..<2 { world.act(index, .archiveChat(chatID: world[index].chatID, true)) }
        world.act(0, .sendMessage(chatID: world[0].chatID, OutgoingMessage(kind: .callSignal, content: "{}")))
        world.settle()
        #expect(try self.chat(world, 1).isArchived, "only visible messages may unarchive a chat")
        world.say(0, "hello")
        world.settle()
        for index in 0..<2 { #expect(try !self.chat(world, index).isArchived) }
        world.act(0, .archiveChat(chatID: world[0].chatID, true))
        world.act(0, .archiveChat(chatID: world[0].chatID, false))
        #expect(try !self.chat(world, 0).isArchived)
        world.act(0, .archiveChat(chatID: "00", true), "unknown")
        #expect(world[0].outcomes["unknown"]?.failure == .unknownChat)
    }

    @Test func removalEmptiesChatWithReason() throws {
        var world = try ReducerWorld.group(3)
        world.say(0, "hello")
        world.act(2, .openChat(chatID: world[2].chatID))
        world.settle()
        #expect(world[2].model.state.currentChat?.messages.count == 1)
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]))
        world.settle()
        let reason = AppState.ChatEnd.removed(by: world[0].key)
        let chat = try self.chat(world, 2)
        #expect(!chat.isActive && !chat.isAdmin && chat.members.isEmpty && chat.endReason == reason)
        #expect(chat.displayName == "Lab" && chat.isGroup && chat.subtitle == nil)
        #expect(world[2].model.state.router.top == .chatList && world[2].model.state.currentChat == nil)
        for _ in 0..<2 {
            world.act(2, .popScreen)
            world.act(2, .openChat(chatID: world[2].chatID))
            world.settle()
            let view = try #require(world[2].model.state.currentChat)
            #expect(view.messages.isEmpty && view.endReason == reason && !view.canLoadOlder && view.title == "Lab")
            #expect(view.members.isEmpty && view.me == nil && view.groupName == "Lab")
        }
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "back")
        world.settle()
        #expect(world[0].outcomes["back"] == .done(chatID: world[0].chatID))
        #expect(try self.chat(world, 2).endReason == nil && self.chat(world, 2).allMembers.count == 3)
        #expect(world[2].model.state.currentChat?.messages.map(\.content) == ["hello"])
        #expect(world[2].model.state.currentChat?.endReason == nil)
    }

    @Test func leavingIsItsOwnEndReason() throws {
        var world = try ReducerWorld.group(3)
        world.act(1, .leaveGroup(chatID: world[1].chatID))
        world.advance(seconds: 60)
        #expect(try self.chat(world, 1).endReason == .left)
        try world.restart(1)
        #expect(try self.chat(world, 1).endReason == .left)
    }

    @Test func storesChangedChatsOncePerBatch() throws {
        var world = try ReducerWorld.group(2)
        let chatID = world[0].chatID
        let say = { (text: String) in
            CoreInput.action(.sendMessage(chatID: chatID, OutgoingMessage(content: text)), nil)
        }
        func memos(_ step: CoreStep) -> Int {
            step.changes.count { if case .putMemo(let name, _) = $0 { name.kind == .chat } else { false } }
        }
        #expect(memos(world.reduce(0, say("one"), say("two"), say("three"))) == 1)
        #expect(memos(world.act(0, .openChat(chatID: chatID))) == 0, "without unread messages nothing may be stored")
        world.settle()
        #expect(memos(world.act(1, .openChat(chatID: world[1].chatID))) == 1)
        #expect(memos(world.act(1, .popScreen)) == 0)
    }

    @Test(arguments: 0..<4)
    func incrementalListEqualsRebuiltList(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var world = try ReducerWorld.group(2)
        for number in 0..<5 {
            world.act(0, .createGroupChat(name: "\(number)", peers: [world[1].key]), "\(number)")
            world.settle()
        }
        for _ in 0..<60 {
            world.now += 1000
            let speaker = Int.random(in: 0..<2, using: &random)
            let chat = world[speaker].model.state.chatList.randomElement(using: &random)
            let chatID = try #require(chat?.chatID)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: world.act(0, .renameGroup(chatID: chatID, name: "new \(world.now)"))
            case 1: world.act(0, .rotateGroupID(chatID: chatID))
            case 2: world.act(speaker, .archiveChat(chatID: chatID, true))
            default: world.act(speaker, .sendMessage(chatID: chatID, .text("\(world.now)")))
            }
            world.settle()
            for index in 0..<2 {
                var anew = world[index].model
                anew.refreshChatList()
                #expect(world[index].model.state.chatList == anew.state.chatList)
                #expect(world[index].model.chats.places == anew.chats.places)
            }
        }
        #expect(world[0].model.state.chatList.count == 6)
    }

    @Test func fastClockDoesNotPinChat() throws {
        var world = try ReducerWorld.group(2)
        let now = world.now
        world.now += 60_000
        world.say(0, "from the future")
        world.now = now
        world.settle()
        #expect(try self.chat(world, 1).lastMessageAt == UnixTime(milliseconds: now))
        world.now += 1000
        world.say(1, "from now")
        #expect(try self.chat(world, 1).lastMessage == "from now")
    }

    @Test func refusesMalformedMemos() throws {
        let key = [UInt8](repeating: 1, count: 32)
        for (kind, text) in [
            (MemoName.Kind.chat, "{}"), (.chat, ""), (.chat, #"{"v":1,"unread":-1}"#),
            (.chat, #"{"v":1,"unread":0,"end":"x"}"#), (.chat, #"{"v":1,"unread":0,"first_unread":"0"}"#),
            (.failedMessage, "{}"), (.failedMessage, #"{"v":1,"group":"0","id":"","reason":"","at":0}"#),
        ] {
            var stored = StoredState()
            stored.memos[MemoName(kind, key)] = Secret(Array(text.utf8))
            let keys = try ReducerWorld(1).accounts[0].keys
            #expect(throws: AppCoreError.self, "\(text)") {
                try CoreModel(account: keys, configuration: CoreConfiguration(relays: []), stored: stored)
            }
        }
    }
}
