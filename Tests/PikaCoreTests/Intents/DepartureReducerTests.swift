import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Leaving, and committing other members' departures, as durable intents (MIP-03, docs/protocol/marmot.md §5.10).
@Suite struct DepartureReducerTests {
    private func members(_ world: ReducerWorld, _ index: Int) -> Int { world[index].group?.members.count ?? 0 }

    private func departureTimers(_ world: ReducerWorld, _ index: Int) -> [Int64] {
        world[index].timers.filter { if case .departures = $0.timer { true } else { false } }.map {
            $0.time - world.now
        }
    }

    @Test func anotherMemberCommitsDeparture() throws {
        var world = try ReducerWorld.group(4)
        world.act(3, .leaveGroup(chatID: world[3].chatID), "leave")
        #expect(world[3].outcomes["leave"] == nil && world[3].model.state.busy.changingChats.count == 1)
        world.settle()
        // Done once a relay has the request; the group stays until a member removes the account.
        #expect(world[3].outcomes["leave"] == .done(chatID: world[0].chatID))
        #expect(world[3].group?.isActive == true && world[3].model.state.busy.changingChats.isEmpty)
        #expect(!world[3].model.intents.isEmpty)
        // Everyone sees that the departure waits, the leaver too.
        let departure = AppState.WaitingProposal(proposer: world[3].key, change: .departure)
        for index in 0...3 { #expect(world[index].model.state.chatList.first?.proposals == [departure]) }
        #expect(self.departureTimers(world, 0).allSatisfy { (0...3000).contains($0) })
        for index in 1...2 { #expect(self.departureTimers(world, index).allSatisfy { (3000...10_000).contains($0) }) }
        for index in 0...2 { #expect(self.departureTimers(world, index).count == 1 && self.members(world, index) == 4) }
        world.advance(seconds: 11)
        for index in 0...2 {
            #expect(self.members(world, index) == 3 && world[index].group?.epoch == 2)
            #expect(world[index].commits.map(\.left) == [[world[3].key]])
            #expect(world[index].model.state.chatList.first?.proposals.isEmpty == true)
            #expect(world[index].model.intents.all.allSatisfy { !$0.isOpen })
        }
        #expect(world[0].commits.last?.isOwn == true)
        #expect(world[3].group?.isActive == false && world[3].commits.last?.removedSelf == true)
        #expect(world[3].model.intents.isEmpty && world[3].model.state.busy.changingChats.isEmpty)
        world.say(1, "on")
        world.settle()
        #expect(world[2].texts == ["on"] && world[3].texts.isEmpty)
    }

    @Test func chatEndsBeforeDepartureIsCommitted() throws {
        var world = try ReducerWorld.group(3)
        let chatID = world[2].chatID
        world.act(2, .leaveGroup(chatID: chatID), "leave")
        #expect(
            world[2].model.state.chatList.first?.isActive == true,
            "the group must stay active until a relay has the request")
        world.act(2, .leaveGroup(chatID: chatID), "twice")
        #expect(world[2].outcomes["twice"]?.failure == .busy)
        world.settle()
        #expect(world[2].outcomes["leave"] == .done(chatID: chatID) && world[2].group?.isActive == true)
        func isOver(_ world: ReducerWorld) -> Bool {
            guard let chat = world[2].model.state.chatList.first else { return false }
            return !chat.isActive && chat.endReason == .left && chat.members.isEmpty && !chat.isAdmin
        }
        #expect(isOver(world))
        let actions: [AppAction] = [
            .sendMessage(chatID: chatID, .text("x")),
            .reactToMessage(chatID: chatID, messageID: world.relayed[0].id, emoji: "x"),
            .typingStarted(chatID: chatID), .leaveGroup(chatID: chatID), .updateGroupKeys(chatID: chatID),
            .saveGroupProfile(chatID: chatID, ProfileDraft(name: "x")), .renameGroup(chatID: chatID, name: "x"),
            .startCall(
                chatID: chatID, session: CallSession(moqURL: "https://m.example", broadcastBase: "b", tracks: [])),
        ]
        for (index, action) in actions.enumerated() {
            world.act(2, action, "\(index)")
            #expect(world[2].outcomes["\(index)"]?.failure == .notAllowed, "\(action)")
        }
        #expect(world[2].publishing.isEmpty)
        try world.restart(2)
        #expect(isOver(world))
        world.settle()
        world.advance(seconds: 11)
        #expect(world[2].group?.isActive == false && isOver(world))
        // After another invitation it is a member again.
        world.act(0, .addGroupMembers(chatID: chatID, peers: [world[2].key]), "back")
        world.settle()
        #expect(world[2].model.state.chatList.first?.isActive == true)
        #expect(world[2].model.state.chatList.first?.endReason == nil)
        world.act(2, .sendMessage(chatID: chatID, .text("here again")), "say")
        world.settle()
        #expect(world[1].texts.last == "here again")
    }

    @Test func departureStaysThoughRelaysRefuseItLater() throws {
        var world = try ReducerWorld.group(3)
        let chatID = world[2].chatID
        world.act(2, .leaveGroup(chatID: chatID), "leave")
        let lost = try #require(world[2].publishing.last)
        world.accept(2, lost.row)
        world.accounts[2].due = []
        // No member receives it; it is repeated in the next epoch, and refused there.
        world.act(0, .renameGroup(chatID: chatID, name: "new"))
        world.settle(offline: [2])
        for event in world.relayed where event.kind == .groupEvent { world.receive(2, event) }
        let again = try #require(world[2].publishing.last { $0.row.hasPrefix("proposal/") })
        world.accounts[2].due = []
        world.answer(2, again.row, .refused("blocked: no"))
        #expect(world[2].model.state.chatList.first?.endReason == .left)
        #expect(world[2].model.intents.all.contains { $0.goal == .leave })
        world.act(0, .renameGroup(chatID: chatID, name: "newer"))
        world.settle()
        world.advance(seconds: 11)
        #expect(world[2].group?.isActive == false)
    }

    @Test func leavingAdminDemotesItselfFirst() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]))
        world.settle()
        #expect(world[2].commits.last?.adminsAdded == [world[1].key])
        world.act(0, .leaveGroup(chatID: world[0].chatID), "leave")
        world.settle()
        #expect(world[1].group?.data.admins == [world[1].key] && world[0].outcomes["leave"] != nil)
        #expect(world[1].commits.last?.adminsRemoved == [world[0].key])
        world.advance(seconds: 11)
        #expect(world[0].group?.isActive == false && self.members(world, 1) == 2 && self.members(world, 2) == 2)
    }

    @Test(arguments: [false, true]) func onlyAdminNamesSuccessor(restarts: Bool) throws {
        var world = try ReducerWorld.group(3)
        let chatID = world[0].chatID
        for (name, key) in [("self", world[0].key), ("stranger", KeyPair.generate(using: &world.random).publicKey)] {
            world.act(0, .leaveGroup(chatID: chatID, successor: key), name)
            #expect(world[0].outcomes[name]?.failure == .notAllowed)
        }
        #expect(world[0].model.intents.isEmpty)
        world.act(0, .leaveGroup(chatID: chatID, successor: world[1].key), "leave")
        #expect(world[0].outcomes["leave"] == nil && world[0].model.state.busy.changingChats == [chatID])
        if restarts {
            try world.restart(0)
            world.connect(0)
        }
        world.settle()
        #expect(world[1].group?.data.admins == [world[1].key])
        #expect(world[0].model.state.chatList.first?.endReason == .left)
        #expect(world[0].model.state.busy.changingChats.isEmpty)
        if !restarts { #expect(world[0].outcomes["leave"] == .done(chatID: chatID)) }
        world.advance(seconds: 11)
        #expect(world[0].group?.isActive == false && self.members(world, 1) == 2 && self.members(world, 2) == 2)
    }

    @Test func successorWhoIsAdminStaysAdmin() throws {
        var world = try ReducerWorld.group(3)
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]))
        world.settle()
        let commits = world[2].commits.count
        world.act(0, .leaveGroup(chatID: world[0].chatID, successor: world[1].key), "leave")
        world.settle()
        world.advance(seconds: 11)
        // The demotion and the departure only.
        #expect(world[2].commits.count == commits + 2 && world[2].group?.data.admins == [world[1].key])
    }

    @Test func refusedDepartureNoLongerWaits() throws {
        var world = try ReducerWorld.group(2)
        world.act(1, .leaveGroup(chatID: world[1].chatID), "leave")
        #expect(world[1].model.state.chatList.first?.proposals.count == 1)
        let row = try #require(world[1].publishing.last?.row)
        world.accounts[1].due = []
        world.answer(1, row, .refused("blocked: no"))
        #expect(world[1].model.state.chatList.first?.proposals.isEmpty == true)
        #expect(world[1].model.state.busy.changingChats.isEmpty)
    }

    @Test func lastAdminAndLastMemberCannotLeave() throws {
        var world = try ReducerWorld.group(2)
        world.act(0, .leaveGroup(chatID: world[0].chatID), "leave")
        world.settle()
        #expect(world[0].outcomes["leave"]?.failure == .notAllowed)
        #expect(world[0].model.state.toast?.contains("makes another member an admin first") == true)
        #expect(world[0].model.intents.all.allSatisfy { !$0.isOpen } && world[0].group?.isAdmin == true)
        var alone = try ReducerWorld.group(1)
        alone.act(0, .leaveGroup(chatID: alone[0].chatID), "leave")
        alone.settle()
        #expect(alone[0].outcomes["leave"]?.failure == .notAllowed)
    }

    @Test func repeatsLeaveProposalAfterUnrelatedCommits() throws {
        var world = try ReducerWorld.group(3)
        world.act(2, .leaveGroup(chatID: world[2].chatID), "leave")
        // No member receives it; then the group changes.
        let lost = try #require(world[2].publishing.last)
        world.accept(2, lost.row)
        world.accounts[2].due = []
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"))
        world.settle()
        #expect(world[0].group?.epoch == 2 && world[2].group?.epoch == 2)
        #expect(world[2].group?.isLeaving == true && self.departureTimers(world, 0).count == 1)
        world.advance(seconds: 11)
        #expect(world[2].group?.isActive == false && self.members(world, 0) == 2)
    }

    @Test func pendingDeparturesSurviveRestart() throws {
        var world = try ReducerWorld.group(3)
        world.act(2, .leaveGroup(chatID: world[2].chatID), "leave")
        world.settle()
        for index in 0...2 { try world.restart(index) }
        #expect(world[2].model.intents.all.count == 1 && world[2].group?.isLeaving == true)
        for index in 0...1 { #expect(self.departureTimers(world, index).count == 1) }
        world.advance(seconds: 11)
        #expect(world[2].group?.isActive == false && self.members(world, 0) == 2 && self.members(world, 1) == 2)
        #expect(world[2].model.intents.isEmpty)
    }

    @Test func dropsLeaveProposalRefusedByEveryRelay() throws {
        var world = try ReducerWorld.group(2)
        world.act(1, .leaveGroup(chatID: world[1].chatID), "leave")
        let row = try #require(world[1].publishing.last?.row)
        world.accounts[1].due = []
        world.answer(1, row, .refused("blocked: no"))
        #expect(world[1].outcomes["leave"]?.failure == .refused && world[1].model.intents.isEmpty)
        world.act(1, .leaveGroup(chatID: world[1].chatID), "again")
        world.settle()
        #expect(world[1].outcomes["again"] == .done(chatID: world[1].chatID))
        world.act(1, .leaveGroup(chatID: world[1].chatID), "twice")
        #expect(world[1].outcomes["twice"]?.failure == .notAllowed)
    }

    @Test func anotherChangeExecutesDeparturesFirst() throws {
        var world = try ReducerWorld.group(3)
        world.act(2, .leaveGroup(chatID: world[2].chatID), "leave")
        world.settle()
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "new"), "rename")
        world.settle()
        #expect(world[2].group?.isActive == false && world[0].outcomes["rename"] == .done(chatID: world[0].chatID))
        #expect(world[1].group?.epoch == 3 && world[1].group?.data.name == "new")
        #expect(world[1].commits.map(\.left) == [[world[2].key], []])
    }

    @Test func severalMembersLeaveAtOnce() throws {
        var world = try ReducerWorld.group(6)
        for index in 2...5 { world.act(index, .leaveGroup(chatID: world[index].chatID), "leave") }
        world.settle()
        world.advance(seconds: 60)
        for index in 2...5 { #expect(world[index].group?.isActive == false) }
        #expect(self.members(world, 0) == 2 && self.members(world, 1) == 2)
        #expect(world[0].group?.epoch == world[1].group?.epoch)
        #expect(world.accounts.allSatisfy { account in account.model.intents.all.allSatisfy { !$0.isOpen } })
    }
}
