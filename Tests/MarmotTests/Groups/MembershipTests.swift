import MLS
import Nostr
import TLSCodec
import Testing

@testable import Marmot

struct MembershipTests {
    @Test(arguments: 2...5)
    func everyMemberReceivesEveryOther(count: Int) throws {
        var lab = try Lab(count)
        for group in lab.groups { #expect(group.epoch == 1 && group.members.count == count) }
        try lab.expectAgreement()
    }

    @Test func groupOfOneStaysAtEpochZero() throws {
        let lab = try Lab(1)
        #expect(lab.groups[0].epoch == 0 && lab.groups[0].members == [lab.keys[0].publicKey])
    }

    @Test func contextHoldsGroupDataThenRequirements() throws {
        let types = try Lab(2).groups[0].mls.extensions.map(\.type.rawValue)
        #expect(types == [0xF2EE, 3])
    }

    @Test func everyChangeReachesEveryMember() throws {
        var lab = try Lab(3)
        var data = lab.groups[0].data
        data.name = "Renamed"
        let rename = try lab.commit(.update(data), by: 0)
        let (report, welcomes) = try lab.groups[0].mergePending()
        #expect(report.isOwn && welcomes.isEmpty && report.before.name == "Lab" && report.after.name == "Renamed")
        for member in 1...2 {
            let received = try #require(lab.deliver(rename, to: member).report)
            #expect(received.committer == lab.keys[0].publicKey && !received.isOwn && received.event == rename.id)
            #expect(
                received.epochBefore == 1 && received.epochAfter == 2 && received.after.name == "Renamed"
                    && !received.isSelfUpdate)
        }
        try lab.add(try lab.newcomer(), by: 0)
        #expect(lab.groups[3].epoch == 3 && lab.groups[1].members.count == 4)
        try lab.expectAgreement()
        try lab.change(.remove([lab.keys[2].publicKey]), by: 0)
        #expect(!lab.groups[2].isActive && lab.groups[1].members.count == 3)
        try lab.expectAgreement()
        let late = try lab.say("too late", from: 0)
        #expect(lab.deliver(late, to: 2).label == "refused/inactive")
        expectError(.inactive) { _ = try lab.say("no", from: 2) }
        expectError(.inactive) { _ = try lab.commit(.selfUpdate, by: 2) }
    }

    @Test func removedMemberLearnsOfItsRemoval() throws {
        var lab = try Lab(3)
        let event = try lab.commit(.remove([lab.keys[2].publicKey]), by: 0)
        let report = try #require(lab.deliver(event, to: 2).report)
        #expect(report.removedSelf && report.removed == [lab.keys[2].publicKey] && report.epochAfter == 2)
        let other = try #require(lab.deliver(event, to: 1).report)
        #expect(!other.removedSelf && other.removed == [lab.keys[2].publicKey])
    }

    @Test func removalAlsoDropsAdminRole() throws {
        var lab = try Lab(4, admins: [0, 1, 2])
        try lab.change(.remove([lab.keys[1].publicKey]), by: 0)
        for member in [0, 2, 3] {
            #expect(Set(lab.groups[member].data.admins) == [lab.keys[0].publicKey, lab.keys[2].publicKey])
            #expect(lab.groups[member].epoch == 2 && lab.groups[member].mls.extensions.count == 2)
        }
        try lab.expectAgreement()
    }

    @Test func selfUpdateRenewsSignatureKeyAndCapabilities() throws {
        var lab = try Lab(3, capabilities: Lab.oldCapabilities)
        let before = lab.groups[1].mls.ownLeaf
        #expect(!before.capabilities.proposals.contains(0x000A))
        let event = try lab.commit(.selfUpdate, by: 1)
        _ = try lab.groups[1].mergePending()
        #expect(try #require(lab.deliver(event, to: 0).report).isSelfUpdate)
        #expect(lab.deliver(event, to: 2).label == "commit")
        let after = lab.groups[1].mls.ownLeaf
        #expect(after.signatureKey != before.signatureKey && after.encryptionKey != before.encryptionKey)
        #expect(after.capabilities.proposals.first == 0x000A && after.credential == before.credential)
        #expect(Grease.contains(try #require(after.capabilities.proposals.last)))
        #expect(lab.groups[2].mls.member(after.index(in: lab.groups[1])) == after)
        try lab.expectAgreement()
        try lab.change(.selfUpdate, by: 1)
        try lab.expectAgreement()
    }

    @Test func anyMemberCommitsPublicDeparture() throws {
        var lab = try Lab(4)
        let leave = try lab.propose(.selfRemove, by: 3, wireFormat: .publicMessage)
        for member in 0...2 { #expect(lab.deliver(leave, to: member).label == "proposal/commit_due") }
        let event = try lab.commit(.commitDepartures, by: 1)
        let report = try lab.groups[1].mergePending().report
        #expect(report.removed == [lab.keys[3].publicKey])
        for member in [0, 2, 3] { #expect(lab.deliver(event, to: member).label == "commit") }
        #expect(!lab.groups[3].isActive && lab.groups[0].members.count == 3)
        try lab.expectAgreement()
        expectError(.notFound) { _ = try lab.commit(.commitDepartures, by: 1) }
    }

    @Test func doesNotCommitDepartureOfAdmin() throws {
        var lab = try Lab(3, admins: [0, 1])
        let leave = try lab.propose(.selfRemove, by: 1, wireFormat: .publicMessage)
        #expect(lab.deliver(leave, to: 0).label == "proposal/ignored")
        expectError(.notFound) { _ = try lab.commit(.commitDepartures, by: 0) }
    }

    @Test func requiresWhatEveryInviteeSupports() throws {
        func required(_ lab: Lab) throws -> RequiredCapabilities {
            let data = try #require(lab.groups[0].mls.extensions.data(of: .requiredCapabilities))
            return try RequiredCapabilities(tlsEncoded: data)
        }
        #expect(try required(Lab(3)) == RequiredCapabilities(extensions: [0xF2EE], proposals: [0x000A]))
        let old = try Lab(3, capabilities: Lab.oldCapabilities)
        #expect(try required(old) == RequiredCapabilities(extensions: [0xF2EE]))
        #expect(try required(Lab(1)) == RequiredCapabilities(extensions: [0xF2EE]))
    }

    @Test func inviteeWithoutSelfRemoveLowersRequirement() throws {
        var lab = try Lab(1)
        let invitees = [try lab.newcomer(), try lab.newcomer(capabilities: Lab.oldCapabilities)]
        let (group, _) = try MarmotGroup.create(
            lab.groups[0].data, founder: lab.keys[0].publicKey, inviting: invitees.map(\.invitee), client: "c",
            now: lab.now, using: &lab.rng)
        let data = try #require(group.mls.extensions.data(of: .requiredCapabilities))
        #expect(data == [2, 0xF2, 0xEE, 0, 0])
    }

    @Test func refusesInviteeLackingRequirement() throws {
        var lab = try Lab(2)
        let old = try lab.newcomer(capabilities: Lab.oldCapabilities)
        let before = lab.groups[0].contents
        expectError(.incompatible, "proposal type 10") { _ = try lab.commit(.add([old.invitee]), by: 0) }
        let foreign = try lab.newcomer(
            capabilities: Capabilities(cipherSuites: [1], extensions: [0x000A], proposals: [0x000A]))
        expectError(.incompatible, "extension type 62190") { _ = try lab.commit(.add([foreign.invitee]), by: 0) }
        expectError(.incompatible, "extension type 62190") {
            _ = try MarmotGroup.create(
                lab.groups[0].data, founder: lab.keys[0].publicKey, inviting: [foreign.invitee], client: "c",
                now: lab.now, using: &lab.rng)
        }
        #expect(lab.groups[0].contents == before && lab.groups[0].pending == nil)
    }

    @Test func refusesExistingOrRepeatedInvitees() throws {
        var lab = try Lab(2)
        let newcomer = try lab.newcomer()
        expectError(.incompatible, "appears twice") {
            _ = try lab.commit(.add([newcomer.invitee, newcomer.invitee]), by: 0)
        }
        try lab.add(newcomer, by: 0)
        expectError(.incompatible, "already a member") { _ = try lab.commit(.add([newcomer.invitee]), by: 0) }
    }

    @Test func foundingAdminsMustBeMembers() throws {
        var lab = try Lab(2)
        let newcomer = try lab.newcomer()
        func create(_ change: (inout GroupData) -> Void, _ invitees: [Invitee]) throws {
            var data = lab.groups[0].data
            change(&data)
            _ = try MarmotGroup.create(
                data, founder: lab.keys[0].publicKey, inviting: invitees, client: "c", now: lab.now, using: &lab.rng)
        }
        expectError(.notAdmin) { try create({ $0.admins = [newcomer.keys.publicKey] }, [newcomer.invitee]) }
        expectError(.notFound) { try create({ $0.admins.append(newcomer.keys.publicKey) }, []) }
        expectError(.incompatible) { try create({ _ in }, [newcomer.invitee, newcomer.invitee]) }
        expectError(.badGroupData) { try create({ $0.name = String(repeating: "x", count: 256) }, []) }
    }

    @Test func allowsOnePendingCommit() throws {
        var lab = try Lab(2)
        _ = try lab.commit(.selfUpdate, by: 0)
        expectError(.commitPending) { _ = try lab.commit(.selfUpdate, by: 0) }
        lab.groups[0].clearPending()
        expectError(.notFound) { _ = try lab.groups[0].mergePending() }
        try lab.change(.selfUpdate, by: 0)
        try lab.expectAgreement()
    }

    @Test func invitationsFollowTheMerge() throws {
        var lab = try Lab(2)
        let newcomer = try lab.newcomer()
        _ = try lab.commit(.add([newcomer.invitee]), by: 0)
        #expect(lab.groups[0].epoch == 1 && lab.groups[0].members.count == 2)
        let (report, welcomes) = try lab.groups[0].mergePending()
        #expect(report.added == [newcomer.keys.publicKey] && welcomes.count == 1)
        #expect(try Lab.join(newcomer, welcomes[0]).epoch == 2)
    }
}

extension LeafNode {
    fileprivate func index(in group: MarmotGroup) -> LeafIndex { group.mls.ownLeafIndex }
}
