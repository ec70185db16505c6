import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Members that are added to groups of the second generation, leave them, and return.
@Suite struct SecondGenerationEntryTests {
    /// A group of the first two of these accounts.
    private func world(_ count: Int) throws -> ReducerWorld {
        var world = try ReducerWorld(count, groupProtocol: .v2)
        for index in 0..<count { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.advance(seconds: 3)
        return world
    }

    /// A group of the first three of four accounts, and the one of its two admins that loses if both commit at once.
    private static func twoAdmins() throws -> (world: ReducerWorld, loser: Int) {
        var world = try ReducerWorld(4, groupProtocol: .v2)
        for index in 0..<4 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key, world[2].key]), "create")
        world.advance(seconds: 3)
        let admins = [world[0].key, world[1].key]
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: admins), "admins")
        world.advance(seconds: 3)
        return (world, admins[0] < admins[1] ? 1 : 0)
    }

    /// The joins that handlers learnt of. A restart delivers unhandled events again, which does not count.
    private func joins(_ world: ReducerWorld, _ index: Int) -> [JoinEvent] {
        var rows: Set<Int64> = []
        return world[index].delivered.compactMap { event in
            guard case .joined(let join) = event.content, rows.insert(event.inboxID).inserted else { return nil }
            return join
        }
    }

    private func wraps(_ world: ReducerWorld) -> Int { world.relayed.count { $0.kind == .giftWrap } }

    @Test func welcomeFollowsStoredCommit() throws {
        var world = try self.world(3)
        let before = self.wraps(world)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.catchUp(0)
        let commit = try #require(world[0].publishing.first { $0.event.kind == .groupEvent })
        #expect(self.wraps(world) == before && !world[0].publishing.contains { $0.event.kind == .giftWrap })
        // A crash before the relay's answer: the commit is published again, and its Welcome follows.
        try world.restart(0)
        world.connect(0)
        world.advance(seconds: 3)
        #expect(world.relayed.contains { $0.id == commit.event.id } && self.wraps(world) == before + 1)
        #expect(self.joins(world, 2).map(\.memberCount) == [3])
        for account in world.accounts { #expect(account.second?.tip.members.count == 3) }
        world.say(2, "hello")
        world.settle()
        #expect(world[0].texts == ["hello"] && world[1].texts == ["hello"])
    }

    @Test func removedMemberReturnsByNewWelcome() throws {
        var world = try self.world(3)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.advance(seconds: 3)
        let first = try #require(world.relayed.last { $0.kind == .giftWrap })
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "remove")
        world.advance(seconds: 3)
        #expect(world[2].second?.isActive == false)
        // The Welcome of the former membership does not lead back.
        try world.restart(2)
        world.receive(2, first)
        #expect(world[2].second?.isActive == false)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "again")
        world.advance(seconds: 3)
        #expect(world[2].second?.isActive == true && self.joins(world, 2).count == 2)
        #expect(world[2].second?.tip.epoch == world[0].second?.tip.epoch)
        // The store has no rows of the replaced state.
        try world.restart(2)
        world.say(0, "welcome back")
        world.settle()
        #expect(world[2].texts == ["welcome back"])
    }

    @Test func forgottenWelcomeDoesNotLeadBack() throws {
        var world = try self.world(3)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.advance(seconds: 3)
        let welcome = try #require(world.relayed.last { $0.kind == .giftWrap })
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "remove")
        world.advance(seconds: 3)
        #expect(world[2].second?.isActive == false)
        // So many events later that its id is forgotten; its key package is still there.
        world.accounts[2].model.inbound = InboundEvents(seen: SeenEvents(newestFirst: []))
        world.receive(2, welcome)
        #expect(world[2].second?.isActive == false && self.joins(world, 2).count == 1)
        #expect(world[2].model.state.invites.isEmpty)
    }

    @Test func memberOfLosingBranchFollowsNewInvitation() throws {
        var (world, loser) = try Self.twoAdmins()
        // Two admins commit at once; the one that loses has invited a new member.
        world.act(loser, .addGroupMembers(chatID: world[loser].chatID, peers: [world[3].key]), "add")
        world.act(1 - loser, .renameGroup(chatID: world[1 - loser].chatID, name: "new"), "rename")
        world.settle()
        world.advance(seconds: 15)
        #expect(world[loser].second?.tip.members.contains(world[3].key) == true)
        world.say(2, "hello")
        world.advance(seconds: 3)
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }).count == 1)
        #expect(world[3].second?.data.name == "new" && world[3].texts == ["hello"])
        #expect(world[3].model.state.invites.isEmpty)
    }

    @Test func invitationIsFollowedInQuietGroup() throws {
        var world = try self.world(3)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.advance(seconds: 3)
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "remove")
        world.advance(seconds: 3, offline: [2])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "again")
        world.advance(seconds: 3, offline: [2])
        // Only the invitation arrives; the group stays quiet.
        world.receive(2, try #require(world.relayed.last { $0.kind == .giftWrap }))
        #expect(self.joins(world, 2).count == 1 && world[2].model.state.invites.count == 1)
        world.advance(seconds: 12, offline: [2])
        #expect(self.joins(world, 2).count == 2 && world[2].model.state.invites.isEmpty)
        #expect(world[2].second?.tip.epoch == world[0].second?.tip.epoch)
    }

    /// Regardless of the winner, messages that the new member sent on the losing branch are sent again.
    @Test func authorLeavingBranchRepeatsItsMessages() throws {
        var (world, loser) = try Self.twoAdmins()
        world.act(loser, .addGroupMembers(chatID: world[loser].chatID, peers: [world[3].key]), "add")
        // The key package is found, and the commit made, before the other admin's arrives.
        world.catchUp(loser)
        world.act(1 - loser, .renameGroup(chatID: world[1 - loser].chatID, name: "new"), "rename")
        world.settle()
        #expect(self.joins(world, 3).count == 1)
        world.say(3, "from another branch")
        // One message on each branch, so that neither wins by its witnesses.
        world.say(1 - loser, "meanwhile")
        world.advance(seconds: 15)
        world.say(2, "hello")
        world.advance(seconds: 6)
        for index in 0..<3 {
            let texts = world[index].durable.shown.map(\.rumor.content)
            #expect(texts.count { $0 == "from another branch" } == 1, "account \(index)")
        }
        #expect(Set(world.accounts.map { $0.second?.tip.epoch }).count == 1)
        #expect(world[3].texts.last == "hello")
        #expect(world.memos(.reseal, 3) == 0)
    }

    /// A group whose two admins add the fourth account at once, each without the other's events. That account has neither
    /// invitation yet.
    private struct DoubleInvitation {
        var world: ReducerWorld
        let loser: Int
        let winner: Int
        /// The gift wraps for the fourth account.
        let losing: Event
        let winning: Event

        init() throws {
            (self.world, self.loser) = try SecondGenerationEntryTests.twoAdmins()
            self.winner = 1 - self.loser
            let before = self.world.relayed.count
            for (index, other) in [(self.loser, self.winner), (self.winner, self.loser)] {
                let chatID = self.world[index].chatID
                self.world.act(index, .addGroupMembers(chatID: chatID, peers: [self.world[3].key]), "add")
                self.world.advance(seconds: 3, offline: [other, 2, 3])
            }
            let wraps = self.world.relayed.dropFirst(before).filter { $0.kind == .giftWrap }
            try #require(wraps.count == 2)
            (self.losing, self.winning) = (wraps[0], wraps[1])
        }

        /// Has an account do something without the others' events; returns the events of the group that it sends.
        mutating func sends(_ index: Int, _ action: (inout ReducerWorld) -> Void) -> [Event] {
            let before = self.world.relayed.count
            action(&self.world)
            self.world.advance(seconds: 3, offline: Set(0..<4).subtracting([index]))
            return self.world.relayed.dropFirst(before).filter { $0.kind == .groupEvent }
        }

        /// Has the fourth account receive an invitation.
        mutating func invite(_ wrap: Event) {
            self.world.receive(3, wrap)
            self.world.settle(offline: [0, 1, 2])
        }

        var isInWinningState: Bool {
            let (own, winning) = (self.world[3].second?.tip, self.world[self.winner].second?.tip)
            return own != nil && own?.mls.epochAuthenticator == winning?.mls.epochAuthenticator
        }
    }

    /// A message of the branch that loses leads the new member away from the other one.
    @Test(arguments: [false, true], [false, true])
    func memberReturnsFromLosingBranch(isLate: Bool, isRestarted: Bool) throws {
        var group = try DoubleInvitation()
        // The winner's invitation arrives first, then the other one, and a message of each branch.
        group.invite(group.winning)
        #expect(self.joins(group.world, 3).count == 1)
        group.invite(group.losing)
        var messages = group.sends(group.loser) { [loser = group.loser] in $0.say(loser, "of the losing branch") }
        messages += group.sends(group.winner) { [winner = group.winner] in $0.say(winner, "of the winning branch") }
        try #require(messages.count == 2)
        for message in isLate ? messages : messages.reversed() {
            group.world.receive(3, message)
            if isRestarted { try group.world.restart(3) }
        }
        group.world.settle(offline: [0, 1, 2])
        #expect(group.world[3].texts.last == "of the winning branch" && group.isInWinningState)
        // Nothing is left of the other state once the group is too far beyond it.
        for number in 0..<6 {
            let name = "\(number)"
            let commits = group.sends(group.winner) { [winner = group.winner] in
                $0.act(winner, .renameGroup(chatID: $0[winner].chatID, name: name), name)
            }
            for commit in commits { group.world.receive(3, commit) }
            group.world.advance(seconds: 3, offline: [0, 1, 2])
        }
        #expect(group.isInWinningState)
        let left = StoredConvergingKey(try #require(group.world[3].second?.groupID), .left).bytes
        #expect(!group.world[3].durable.state.groups.contains { $0.key == left })
    }

    /// A commit that is not decided yet shows as well that the members are in the present state.
    @Test func openPassKeepsState() throws {
        var group = try DoubleInvitation()
        let rename: (Int, String) -> (inout ReducerWorld) -> Void = { index, name in
            { $0.act(index, .renameGroup(chatID: $0[index].chatID, name: name), name) }
        }
        group.invite(group.winning)
        let losing = group.sends(group.loser, rename(group.loser, "losing"))
        let winning = group.sends(group.winner, rename(group.winner, "winning"))
        try #require(losing.count == 1 && winning.count == 1)
        group.world.receive(3, losing[0])
        group.world.receive(3, winning[0])
        group.invite(group.losing)
        #expect(self.joins(group.world, 3).count == 1)
        group.world.advance(seconds: 3, offline: [0, 1, 2])
        #expect(group.isInWinningState && self.joins(group.world, 3).count == 1)
    }

    /// The first event of the winning branch is earlier than the use of the losing one, and its later events are of an epoch
    /// that the state of the invitation cannot open.
    @Test func laterEpochsOfOtherStateCount() throws {
        var group = try DoubleInvitation()
        group.invite(group.losing)
        let winning = group.sends(group.winner) { [winner = group.winner] in
            $0.act(winner, .renameGroup(chatID: $0[winner].chatID, name: "winning"), "rename")
        }
        let losing = group.sends(group.loser) { [loser = group.loser] in $0.say(loser, "of the losing branch") }
        let later = group.sends(group.winner) { [winner = group.winner] in $0.say(winner, "of the winning branch") }
        try #require(winning.count == 1 && losing.count == 1 && later.count == 1)
        group.world.receive(3, losing[0])
        group.invite(group.winning)
        // The message of the later epoch arrives first.
        group.world.receive(3, later[0])
        #expect(self.joins(group.world, 3).count == 1)
        group.world.receive(3, winning[0])
        group.world.advance(seconds: 3, offline: [0, 1, 2])
        #expect(group.isInWinningState && self.joins(group.world, 3).count == 2)
        #expect(group.world[3].texts == ["of the losing branch", "of the winning branch"])
    }

    @Test func disbandedGroupIsNeverJoinedAgain() throws {
        var world = try self.world(2)
        let groupID = try #require(world[1].second?.groupID)
        world.act(0, .disbandGroup(chatID: world[0].chatID), "disband")
        world.advance(seconds: 3)
        #expect(world[1].model.closedGroups.disbanded == [groupID])
        try world.restart(1)
        #expect(world[1].model.closedGroups.disbanded == [groupID])
        #expect(world[1].second?.isActive == false)
    }

    @Test func invitationMayPrecedeRemoval() throws {
        var world = try self.world(3)
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.advance(seconds: 3)
        // The member is away while it is removed and invited again; then the invitation arrives first.
        let known = world.relayed.count
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "remove")
        world.advance(seconds: 3, offline: [2])
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "again")
        world.advance(seconds: 3, offline: [2])
        let missed = world.relayed.dropFirst(known)
        let wrap = try #require(missed.last { $0.kind == .giftWrap })
        world.receive(2, wrap)
        #expect(world[2].model.state.invites.map(\.wrapper) == [wrap.id] && self.joins(world, 2).count == 1)
        try world.restart(2)
        #expect(world[2].model.state.invites.map(\.wrapper) == [wrap.id])
        for event in missed where event.kind == .groupEvent { world.receive(2, event) }
        world.advance(seconds: 6)
        #expect(world[2].second?.isActive == true && self.joins(world, 2).count == 2)
        #expect(world[2].second?.tip.epoch == world[0].second?.tip.epoch)
        #expect(world[2].model.state.invites.isEmpty)
    }

    @Test func firstGenerationIsNeverEnteredBySecond() throws {
        var world = try ReducerWorld.group(2)
        let groupID = try #require(world[1].model.groups.keys.first)
        #expect(world[1].model.closedGroups.active == [groupID])
        // Also after a removal: a group keeps its generation.
        world.act(0, .removeGroupMembers(chatID: world[0].chatID, peers: [world[1].key]), "remove")
        world.settle()
        #expect(world[1].model.groups[groupID]?.isActive == false)
        #expect(world[1].model.closedGroups.active == [groupID])
    }
}
