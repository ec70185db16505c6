import LiveTesting
import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

@Suite struct BranchesTests {
    private var step = CoreStep(nowMilliseconds: 0, monotonicMilliseconds: 0, random: CoreRandom(SplitMix64(seed: 4)))
    private var branches = Branches()

    /// Advances the group until no commit of its present epoch can be displaced any more.
    private func advance(_ world: inout ReducerWorld) throws -> MarmotGroup {
        for number in 0...MarmotProfile.mip.pastEpochs {
            world.now += 1000
            world.act(0, .renameGroup(chatID: world[0].chatID, name: "\(number)"), "\(number)")
            world.settle()
        }
        return try #require(world[1].group)
    }

    @Test mutating func dropsOldLeftStates() throws {
        var world = try ReducerWorld.group(2)
        let abandoned = try #require(world[1].group)
        self.branches.leave(abandoned, &self.step)
        #expect(self.branches.hasRivals(of: abandoned.groupID) && self.step.changes.count == 2)
        let known = try self.advance(&world)
        let invites = self.branches.dropOldRivals(of: known, &self.step)
        #expect(invites.isEmpty && self.step.changes.count == 3)
        let key = StoredGroupKey.leftBranch(abandoned.groupID, isActive: true)
        #expect(self.step.changes.contains { if case .deleteGroup(key) = $0 { true } else { false } })
    }

    @Test mutating func dropsOldAbandonedBranches() throws {
        var world = try ReducerWorld.group(2)
        let branch = try #require(world[1].group)
        self.branches.abandon(branch, at: branch.epoch, &self.step)
        self.branches.forgetOldAbandoned(of: branch, &self.step)
        #expect(self.branches.trialCount(of: branch.groupID) == 0 && self.step.changes.count == 2)
        let known = try self.advance(&world)
        self.branches.forgetOldAbandoned(of: known, &self.step)
        #expect(self.branches.trialCount(of: branch.groupID) == nil && self.step.changes.count == 3)
    }

    @Test mutating func findsBranchInUseByItsMessages() throws {
        var world = try ReducerWorld.group(2)
        let abandoned = try #require(world[1].group)
        world.say(0, "on the other branch")
        world.settle(offline: [1])
        let event = try #require(world.relayed.last)
        self.branches.leave(abandoned, &self.step)
        self.step = CoreStep(nowMilliseconds: world.now, monotonicMilliseconds: world.now, random: self.step.random)
        let found = (0..<2).map { _ in
            self.branches.branchInUse(
                of: abandoned.groupID, [event], besides: world[1].key, waiting: { [event] }, &self.step)?.group.epoch
        }
        #expect(found == [abandoned.epoch, nil])
    }

    @Test func decisionsFollowDispositions() {
        if case .hold(.futureEpoch) = BranchDecision(.waiting(.futureEpoch)) {
        } else {
            Issue.record("expected the event to be held")
        }
        if case .apply(.ownCommit) = BranchDecision(.ownCommit) {
        } else {
            Issue.record("expected the commit to be applied")
        }
    }
}
