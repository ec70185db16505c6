import MLS
import Marmot
import Nostr
import Testing

@testable import PikaCore

/// Groups of both generations in one account.
@Suite struct AccountGroupTests {
    @Test func showsSecondGenerationLikeFirst() throws {
        let lab = try ConvergingLab(3, admins: 2)
        let group = AccountGroup.second(lab[2].group)
        #expect(group.generation == .v2 && group.first == nil && group.second != nil)
        #expect(group.epoch == 1 && group.isActive && !group.isAdmin && !group.isLeaving && !group.hasPendingCommit)
        #expect(group.data.name == "Lab" && group.data.admins == [lab[0].key, lab[1].key].sorted())
        #expect(group.data.relays.map(\.string) == ["wss://relay.example"] && group.data.disappearingSeconds == nil)
        #expect(Set(group.members) == Set(lab.members.map(\.key)) && group.identities[group.ownLeaf] == lab[2].key)
        #expect(group.wasAdmin(lab[0].key, in: 1) == true && group.wasAdmin(lab[2].key, in: 1) == false)
        #expect(group.wasAdmin(lab[0].key, in: 0) == nil && group.mediaSecret(of: 1) == group.mediaSecret)
        #expect(group.dueDepartures.isEmpty && group.formerNostrGroupIDs.isEmpty && group.ownCommits.isEmpty)
    }

    @Test func dataFollowSelectedBranch() throws {
        var lab = try ConvergingLab(2)
        let event = try lab.stage(.profile(try GroupProfileState(name: "new")), by: 0)
        #expect(lab[0].group.data.name == "Lab" && AccountGroup.second(lab[0].group).pendingEvent == event.id)
        _ = lab.members[0].group.confirmOwnCommit(now: lab.now)
        #expect(lab[0].group.data.name == "new")
        let marks = lab[1].group.outerKeyRing.marks
        try lab.deliver(event, to: 1)
        lab.advance(1500)
        #expect(lab[1].group.data.name == "new" && lab[1].group.outerKeyRing.marks.isStrictSuperset(of: marks))
    }

    @Test func holdsBothGenerations() throws {
        let lab = try ConvergingLab(2)
        let world = try ReducerWorld.group(2)
        let first = try #require(world[0].group)
        var groups = Groups()
        groups.insert(.first(first))
        groups.insert(.second(lab[0].group))
        let second = lab[0].group.groupID
        #expect(groups.count == 2 && Set(groups.keys) == [first.groupID, second] && groups.values.count == 2)
        #expect(groups[first.groupID]?.generation == .v1 && groups[second]?.generation == .v2)
        #expect(groups[first: second] == nil && groups[second: first.groupID] == nil)
        #expect(Set(groups.map(\.key)) == Set(groups.all.keys) && groups.hasUnstoredChanges)
        groups.route(.second(lab[0].group), enteredAt: 5)
        var lab2 = lab
        let event = try lab2.say("hello", by: 1)
        #expect(groups.candidates(for: event) == [second] && groups.group(of: event) == second)
    }

    @Test func replacedStateLeavesNoRows() throws {
        var lab = try ConvergingLab(2)
        for number in 0..<3 {
            try lab.deliver(try lab.rename("\(number)", by: 0), to: 1)
            lab.advance(1500)
        }
        var groups = Groups()
        var durable = DurableState()
        func store() {
            var step = CoreStep.at(0)
            groups.store(&step)
            for change in step.changes { durable.apply(change) }
        }
        lab.store(1)
        try lab.restart(1)
        groups.restore(.second(lab[1].group))
        durable.state.groups = lab[1].durable.state.groups
        store()
        #expect(Set(durable.state.groups.map(\.key)) == Set(lab[1].group.storedKeys))
        // The account joins the group anew.
        var fresh = ConvergingGroup(lab[0].group.tip)
        groups.insert(.second(fresh))
        store()
        _ = fresh.drainChanges()
        #expect(Set(durable.state.groups.map(\.key)) == Set(fresh.storedKeys) && durable.state.groups.count == 2)
    }
}
