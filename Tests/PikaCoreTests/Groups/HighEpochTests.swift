import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// An inviter chooses a group's epoch number; no number may cause a trap.
@Suite struct HighEpochTests {
    /// Returns a group of two, moved to an epoch directly, and a third account that is not a member.
    private func world(at epoch: Epoch) throws -> ReducerWorld {
        var world = try ReducerWorld(3)
        for index in 0..<3 { world.reduce(index, .started) }
        world.settle()
        world.act(0, .createGroupChat(name: "Lab", peers: [world[1].key]), "create")
        world.settle()
        world.act(0, .setGroupAdmins(chatID: world[0].chatID, admins: [world[0].key, world[1].key]), "admins")
        world.settle()
        for index in 0..<2 {
            let groupID = try #require(world[index].group?.groupID)
            world.accounts[index].model.groups[first: groupID]?.move(to: epoch)
            world.accounts[index].model.groups.markChanged(groupID)
            world.reduce(index, .timer(.outbox))
        }
        return world
    }

    @Test(arguments: [.max - 4, 1 << 62] as [UInt64])
    func refusesWelcomeAboveHighestEpoch(_ epoch: UInt64) throws {
        var world = try self.world(at: Epoch(rawValue: epoch))
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.settle()
        #expect(world.relayed.contains { $0.kind == .giftWrap })
        #expect(world[2].model.groups.isEmpty)
        #expect(
            world[2].notes.contains {
                if case .refused(reason: "epoch_too_high", _) = $0 { true } else { false }
            })
        try world.restart(2)
    }

    @Test func joinsAtHighestEpoch() throws {
        var world = try self.world(at: Epoch(rawValue: 1 << 62 - 1))
        world.act(0, .addGroupMembers(chatID: world[0].chatID, peers: [world[2].key]), "add")
        world.settle()
        #expect(world[2].group?.epoch == .highestJoinable)
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "on"), "rename")
        world.settle()
        #expect(world[2].group?.data.name == "on" && world[2].group?.epoch == Epoch.highestJoinable.next)
    }

    /// A store of an earlier version may hold such a group.
    @Test func groupAtLastEpochsSurvives() throws {
        var world = try self.world(at: Epoch(rawValue: .max - 4))
        for round in 0..<6 {
            world.say(0, "hello \(round)")
            world.settle()
            #expect(world[1].texts.last == "hello \(round)")
            try world.restart(1)
            world.act(round % 2, .renameGroup(chatID: world[0].chatID, name: "name \(round)"), "rename \(round)")
            world.settle()
            try world.restart(0)
        }
        #expect(world[1].group?.epoch == .max && world[1].group?.data.name == "name 3")
        #expect(world[1].outcomes["rename 5"]?.failure != nil)
    }

    @Test func raceAtLastEpochsIsDecided() throws {
        var world = try self.world(at: Epoch(rawValue: .max - 3))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "earlier"), "rename")
        let better = try #require(world[0].publishing.first)
        world.accounts[0].due = []
        world.now += 5000
        world.act(1, .renameGroup(chatID: world[1].chatID, name: "later"), "rename")
        world.settle(offline: [0])
        world.say(1, "lost branch")
        world.settle(offline: [0])
        world.receive(1, better.event)
        world.accept(0, better.row)
        world.settle()
        #expect(world[0].group?.data.name == "earlier" && world[1].group?.data.name == "earlier")
        #expect(world[0].texts == ["lost branch"])
    }

    @Test func restoredCopyAtLastEpochsSurvives() throws {
        var world = try self.world(at: Epoch(rawValue: .max - 4))
        world.connect(0)
        let copy = world.copy(1)
        try world.restart(copy)
        world.connect(copy)
        world.say(copy, "restored")
        world.settle(offline: [1, 2])
        #expect(world[0].texts.last == "restored" && world[0].group?.epoch == Epoch(rawValue: .max - 3))
        world.act(0, .renameGroup(chatID: world[0].chatID, name: "on"), "rename")
        world.settle(offline: [1, 2])
        #expect(world[copy].group?.data.name == "on")
    }
}
