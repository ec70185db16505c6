import MLS
import Nostr
import Testing

@testable import Marmot

/// Departures by SelfRemove and by a legacy Remove, and their commit by another member (MIP-03,
/// docs/protocol/marmot.md §5.10). Member 0 is the admin unless stated otherwise.
struct DepartureTests {
    private static func leave(_ lab: inout Lab, _ member: Int) throws -> Event {
        try lab.groups[member].leave(now: lab.now, using: &lab.rng)
    }

    @Test func anyMemberCommitsPublicSelfRemove() throws {
        var lab = try Lab(4)
        #expect(lab.groups[3].requiresSelfRemove)
        let leave = try Self.leave(&lab, 3)
        #expect(leave.expiration == nil && lab.groups[3].isLeaving && lab.groups[3].isActive)
        let before = lab.groups[3].contents
        #expect(lab.deliver(leave, to: 3).label == "ownEcho")
        #expect(lab.groups[3].contents == before && lab.groups[3].epoch == 1)
        for member in 0...2 {
            #expect(lab.deliver(leave, to: member).label == "proposal/commit_due")
            #expect(lab.groups[member].dueDepartures == [lab.keys[3].publicKey])
        }
        let commit = try lab.commit(.commitDepartures, by: 2)
        let own = try lab.groups[2].mergePending().report
        #expect(own.removed == [lab.keys[3].publicKey] && own.left == own.removed)
        for member in [0, 1] {
            let report = try #require(lab.deliver(commit, to: member).report)
            #expect(report.left == [lab.keys[3].publicKey] && !report.isOwn)
            #expect(lab.groups[member].dueDepartures.isEmpty)
        }
        let report = try #require(lab.deliver(commit, to: 3).report)
        #expect(report.removedSelf && report.left == [lab.keys[3].publicKey] && !lab.groups[3].isActive)
        try lab.expectAgreement()
    }

    @Test func onlyAdminsCommitLegacyDepartures() throws {
        var lab = try Lab(4, admins: [0, 1], capabilities: Lab.oldCapabilities)
        #expect(!lab.groups[3].requiresSelfRemove)
        let leave = try Self.leave(&lab, 3)
        #expect(lab.deliver(leave, to: 3).label == "ownEcho")
        #expect(lab.deliver(leave, to: 0).label == "proposal/commit_due")
        #expect(lab.deliver(leave, to: 1).label == "proposal/commit_due")
        #expect(lab.deliver(leave, to: 2).label == "proposal/pending")
        #expect(lab.groups[2].dueDepartures.isEmpty && lab.groups[1].dueDepartures == [lab.keys[3].publicKey])
        expectError(.notFound) { _ = try lab.commit(.commitDepartures, by: 2) }
        let commit = try lab.commit(.commitDepartures, by: 1)
        #expect(try lab.groups[1].mergePending().report.left == [lab.keys[3].publicKey])
        for member in [0, 2, 3] {
            #expect(lab.deliver(commit, to: member).report?.left == [lab.keys[3].publicKey])
        }
        #expect(!lab.groups[3].isActive && lab.groups[2].members.count == 3)
        try lab.expectAgreement()
    }

    @Test func removalReachesMembersWithoutTheProposal() throws {
        var lab = try Lab(4, capabilities: Lab.oldCapabilities)
        let leave = try Self.leave(&lab, 3)
        _ = lab.deliver(leave, to: 0)
        let commit = try lab.commit(.commitDepartures, by: 0)
        _ = try lab.groups[0].mergePending()
        let report = try #require(lab.deliver(commit, to: 1).report)
        #expect(report.removed == [lab.keys[3].publicKey] && report.left.isEmpty)
    }

    @Test func acceptsLegacyCommitByReference() throws {
        var lab = try Lab(4, capabilities: Lab.oldCapabilities)
        let leave = try Self.leave(&lab, 3)
        for member in 0...2 { _ = lab.deliver(leave, to: member) }
        let references = lab.groups[0].mls.pendingProposals.map(\.reference)
        let commit = try lab.forge(by: 0) { $0.references = references }
        for member in [1, 2, 3] {
            #expect(lab.deliver(commit, to: member).report?.left == [lab.keys[3].publicKey])
        }
    }

    @Test func departedLegacyAdminLeavesAdminList() throws {
        var lab = try Lab(3, admins: [0, 1], capabilities: Lab.oldCapabilities)
        let index = lab.groups[1].mls.ownLeafIndex
        let leave = try lab.propose(.remove(index), by: 1)
        #expect(lab.deliver(leave, to: 0).label == "proposal/commit_due")
        #expect(lab.deliver(leave, to: 2).label == "proposal/pending")
        try lab.change(.commitDepartures, by: 0)
        #expect(lab.groups[2].data.admins == [lab.keys[0].publicKey] && !lab.groups[1].isActive)
        try lab.expectAgreement()
    }

    @Test func adminDemotesItselfBeforeLeaving() throws {
        var lab = try Lab(3, admins: [0, 1])
        expectError(.adminStays, "self-demote") { _ = try Self.leave(&lab, 1) }
        try lab.change(.selfDemote, by: 1)
        #expect(lab.groups[2].data.admins == [lab.keys[0].publicKey])
        expectError(.notAdmin) { _ = try lab.commit(.selfDemote, by: 1) }
        let leave = try Self.leave(&lab, 1)
        _ = lab.deliver(leave, to: 2)
        _ = lab.deliver(leave, to: 0)
        try lab.change(.commitDepartures, by: 2)
        #expect(lab.groups[0].members.count == 2)
        try lab.expectAgreement()
    }

    @Test func lastAdminAndLastMemberCannotLeave() throws {
        var lab = try Lab(3)
        let before = lab.groups[0].contents
        expectError(.noAdminLeft, "another member") { _ = try lab.commit(.selfDemote, by: 0) }
        #expect(lab.groups[0].contents == before)
        var alone = try Lab(1)
        expectError(.lastMember) { _ = try Self.leave(&alone, 0) }
        // An admin does not count if a client removed it from the group but left it in the list.
        lab = try Lab(3, admins: [0, 1])
        let index = lab.groups[1].mls.ownLeafIndex
        let removal = try lab.forge(by: 0) { $0.removing = [index] }
        _ = lab.deliver(removal, to: 2)
        #expect(lab.groups[2].data.admins.count == 2)
    }

    @Test func reproposesDepartureOncePerEpoch() throws {
        var lab = try Lab(3)
        _ = try Self.leave(&lab, 2)
        let again = try Self.leave(&lab, 2)
        #expect(lab.groups[2].mls.pendingProposals.count == 1)
        _ = lab.deliver(again, to: 1)
        try lab.change(.selfUpdate, by: 0)
        #expect(!lab.groups[2].isLeaving && lab.groups[1].dueDepartures.isEmpty)
        let leave = try Self.leave(&lab, 2)
        for member in 0...1 { #expect(lab.deliver(leave, to: member).label == "proposal/commit_due") }
        try lab.change(.commitDepartures, by: 1)
        #expect(lab.groups[0].members.count == 2)
    }

    @Test func departureWaitsForOwnCommit() throws {
        var lab = try Lab(3)
        _ = try lab.commit(.selfUpdate, by: 2)
        expectError(.commitPending) { _ = try Self.leave(&lab, 2) }
        lab.groups[2].clearPending()
        lab.groups[2].isActive = false
        expectError(.inactive) { _ = try Self.leave(&lab, 2) }
    }

    @Test func commitsSeveralDeparturesTogether() throws {
        var lab = try Lab(5)
        let third = try Self.leave(&lab, 3)
        let fourth = try Self.leave(&lab, 4)
        // The same request in the other form, and again with other authenticated data.
        let index = lab.groups[4].mls.ownLeafIndex
        let removal = try lab.propose(.remove(index), by: 4)
        let message = try lab.groups[4].mls.propose(
            .selfRemove, wireFormat: .publicMessage, authenticatedData: [1], using: &lab.rng
        ).message
        let twice = try lab.wrap(message, from: 4)
        for member in 0...4 { for event in [third, fourth, removal, twice] { _ = lab.deliver(event, to: member) } }
        #expect(lab.groups[0].mls.pendingProposals.count == 4)
        let commit = try lab.commit(.commitDepartures, by: 1)
        #expect(try lab.groups[1].mergePending().report.left.count == 2)
        for member in [0, 2, 3, 4] { #expect(lab.deliver(commit, to: member).label == "commit") }
        #expect(lab.groups[0].members.count == 3)
        try lab.expectAgreement()
    }

    @Test func doesNotCommitUnsupportedSelfRemove() throws {
        var lab = try Lab(3, capabilities: Lab.oldCapabilities)
        let leave = try lab.propose(.selfRemove, by: 2, wireFormat: .publicMessage)
        #expect(lab.deliver(leave, to: 0).label == "proposal/ignored")
        expectError(.notFound) { _ = try lab.commit(.commitDepartures, by: 0) }
    }

    @Test func dueDepartureSurvivesRestart() throws {
        var lab = try Lab(3)
        let leave = try Self.leave(&lab, 2)
        _ = lab.deliver(leave, to: 1)
        var stored = lab.groups[1]
        stored.mls.markAllChanged()
        #expect(try MLSGroup(records: stored.mls.drainChanges().kept).pendingProposals.count == 1)
    }
}

extension GroupStorageChanges {
    fileprivate var kept: [GroupRecord: Secret] { self.records.compactMapValues { $0 } }
}
