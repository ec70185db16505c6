import Nostr
import Testing

@testable import PikaCore

/// Screens that the core opens and closes itself, and the content of the open chat besides its messages.
@Suite struct RouterReducerTests {
    private func top(_ world: ReducerWorld, _ index: Int) -> AppState.Screen { world[index].model.state.router.top }

    @Test func createdChatReplacesTheScreens() throws {
        var world = try ReducerWorld(2)
        for index in 0..<2 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .setScreens([.newChat, .newGroupChat]))
        world.act(0, .createGroupChat(name: "Club", peers: [world[1].key]), "create")
        #expect(self.top(world, 0) == .newGroupChat)
        world.settle()
        #expect(world[0].model.state.router.stack == [.chat(chatID: world[0].chatID)])
        #expect(world[0].model.state.currentChat?.chatID == world[0].chatID)
        #expect(self.top(world, 1) == .chatList, "an invited account must stay where it is")
        world.act(0, .popScreen)
        #expect(self.top(world, 0) == .chatList)
    }

    @Test func failedCreationKeepsTheScreens() throws {
        var world = try ReducerWorld(1)
        world.reduce(0, .started)
        world.settle()
        let stranger = KeyPair.generate(using: &world.random).publicKey
        world.act(0, .setScreens([.newChat]))
        world.act(0, .createChat(peer: stranger), "create")
        world.settle()
        #expect(world[0].outcomes["create"]?.failure == .noKeyPackage && self.top(world, 0) == .newChat)
    }

    @Test func leavingShowsTheList() throws {
        var world = try ReducerWorld.group(3)
        let chatID = world[2].chatID
        world.act(2, .setScreens([.newChat, .chat(chatID: chatID), .groupInfo(chatID: chatID)]))
        world.act(2, .leaveGroup(chatID: chatID), "leave")
        #expect(self.top(world, 2) == .groupInfo(chatID: chatID))
        world.settle()
        #expect(world[2].model.state.router.stack.isEmpty && world[2].model.state.currentChat == nil)
    }

    @Test func removalShowsTheList() throws {
        var world = try ReducerWorld.group(3)
        world.act(1, .openChat(chatID: world[1].chatID))
        world.act(2, .setScreens([.chat(chatID: world[2].chatID), .newChat]))
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key, world[2].key]))
        world.settle()
        #expect(world[1].model.state.router.stack.isEmpty && world[1].model.state.currentChat == nil)
        // Another screen on top stays.
        #expect(world[2].model.state.router.stack == [.newChat])
        #expect(self.top(world, 0) == .chat(chatID: world[0].chatID))
    }

    @Test func openChatListsOtherMembers() throws {
        var world = try ReducerWorld.group(3)
        for index in 0..<3 { world.act(index, .openChat(chatID: world[index].chatID)) }
        world.settle()
        for index in 0..<3 {
            let view = try #require(world[index].model.state.currentChat)
            let others = world.accounts.map(\.key).filter { $0 != world[index].key }
            #expect(Set(view.members.map(\.publicKey)) == Set(others) && view.members.count == 2)
            #expect(view.me?.publicKey == world[index].key && view.me?.isAdmin == (index == 0))
            #expect(view.groupName == "Lab" && view.proposals.isEmpty)
        }
        world.act(2, .leaveGroup(chatID: world[2].chatID))
        world.settle()
        let departure = AppState.WaitingProposal(proposer: world[2].key, change: .departure)
        #expect(world[0].model.state.currentChat?.proposals == [departure])
        world.advance(seconds: 11)
        #expect(world[0].model.state.currentChat?.members.map(\.publicKey) == [world[1].key])
        #expect(world[0].model.state.currentChat?.proposals.isEmpty == true)
    }

    @Test func membersShowPublicPictures() throws {
        var world = try ReducerWorld.group(2)
        world.post(.metadata, by: world[1].keys, #"{"name":"bob","picture":"https://a.example/b.png"}"#)
        world.connect(0)
        world.settle()
        let chat = try #require(world[0].model.state.chatList.first)
        #expect(chat.members.map(\.picture) == ["https://a.example/b.png"] && chat.me?.picture == nil)
        #expect(world[0].model.state.currentChat?.members == chat.members)
    }
}
