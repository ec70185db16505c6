import TLSCodec
import Testing

@testable import MLS

/// Changes of components' data in the GroupContext (MLS extensions draft §4.7).
struct AppDataUpdateTests {
    @Test func changesDataWithoutPath() throws {
        var party = try Party.withComponents()
        let treeHash = party.members[0].context.treeHash
        let pending = try party.commit(
            .changing(AppDataUpdate(0x8001, .update([7, 7])), AppDataUpdate(0x8003, .remove)), by: 0)
        #expect(!pending.changes.hasPath && pending.changes.updated.isEmpty)
        #expect(pending.changes.proposals.map(\.isInline) == [true, true])
        for member in party.present {
            let dictionary = try party.dictionary(of: member)
            #expect(dictionary[0x8001] == [7, 7] && dictionary[0x8003] == nil)
            #expect(party.members[member].context.treeHash == treeHash)
        }
        #expect(pending.changes.extensions == party.members[1].extensions)
        try party.expectAgreement()
        try party.exchangeMessages()
    }

    @Test func insertsNewDataInOrder() throws {
        var party = try Party.withComponents()
        try party.commit(.changing(AppDataUpdate(0x8002, .update([])), AppDataUpdate(3, .update([1]))), by: 1)
        #expect(try party.dictionary(of: 0).entries.map(\.component) == [1, 3, 0x8001, 0x8002, 0x8003])
        try party.expectAgreement()
    }

    @Test func changedDictionaryBecomesLastExtension() throws {
        let foreign = Extension(type: .init(rawValue: 0xF2EE), data: [5])
        var party = try Party.withComponents(
            extensions: [Party.groupDictionary.asExtension, foreign, Party.requiredCapabilities])
        try party.commit(.changing(AppDataUpdate(0x8001, .update([2]))), by: 0)
        for member in party.members {
            #expect(member.extensions.map(\.type) == [foreign.type, .requiredCapabilities, .appDataDictionary])
        }
        try party.expectAgreement()
    }

    @Test func createsDictionaryWhereThereIsNone() throws {
        var party = try Party.withComponents(extensions: [Party.requiredCapabilities])
        try party.commit(.changing(AppDataUpdate(0x8001, .update([2]))), by: 0)
        #expect(party.members[1].extensions.last == AppDataDictionary([0x8001: [2]]).asExtension)
        try party.expectAgreement()
    }

    @Test func commitsUpdatesByReference() throws {
        var party = try Party.withComponents()
        let proposal = try party.members[2].propose(
            .appDataUpdate(AppDataUpdate(0x8001, .update([9]))), using: &party.rng)
        try party.deliver(proposal.message, from: 2)
        var request = CommitRequest()
        request.references = [proposal.reference]
        let pending = try party.commit(request, by: 0)
        #expect(!pending.changes.hasPath)
        #expect(pending.changes.proposals.map(\.reference) == [proposal.reference])
        #expect(pending.changes.proposals.map(\.sender) == [LeafIndex(2)])
        #expect(try party.dictionary(of: 1)[0x8001] == [9])
        try party.expectAgreement()
    }

    @Test func otherProposalsAndRequestsAddPath() throws {
        var party = try Party.withComponents(4)
        var request = CommitRequest.changing(AppDataUpdate(0x8001, .update([2])))
        request.removing = [LeafIndex(3)]
        let pending = try party.commit(request, by: 0)
        #expect(pending.changes.hasPath)
        #expect(pending.changes.proposals.map(\.proposal.type) == [8, 3])
        request = .changing(AppDataUpdate(0x8001, .update([3])))
        request.forcesPath = true
        #expect(try party.commit(request, by: 1).changes.hasPath)
        request = .changing(AppDataUpdate(0x8001, .update([4])))
        request.adding = [try party.verifiedPackage("newcomer")]
        #expect(try party.members[0].commit(request, using: &party.rng).changes.hasPath)
        try party.expectAgreement()
    }

    @Test func newMemberSharesDictionary() throws {
        var party = try Party.withComponents(2)
        try party.commit(.changing(AppDataUpdate(0x8001, .update([4, 5]))), by: 1)
        try party.add(1)
        #expect(try party.dictionary(of: 2)[0x8001] == [4, 5])
        try party.commit(.changing(AppDataUpdate(0x8001, .update([6]))), by: 2)
        try party.expectAgreement()
    }

    @Test func extensionsChangeBesideComponents() throws {
        var party = try Party.withComponents()
        let foreign = Extension(type: .init(rawValue: 0xF2EE), data: [5])
        var request = CommitRequest.changing(AppDataUpdate(0x8001, .update([2])))
        request.extensions = [Party.groupDictionary.asExtension, Party.requiredCapabilities, foreign]
        let pending = try party.commit(request, by: 0)
        #expect(pending.changes.hasPath)
        #expect(
            party.members[1].extensions.map(\.type) == [.requiredCapabilities, foreign.type, .appDataDictionary])
        #expect(try party.dictionary(of: 1)[0x8001] == [2])
        try party.expectAgreement()
    }

    @Test func storedGroupKeepsProposedUpdate() throws {
        var party = try Party.withComponents()
        let proposal = try party.members[1].propose(
            .appDataUpdate(AppDataUpdate(0x8003, .remove)), using: &party.rng)
        try party.deliver(proposal.message, from: 1)
        party.members[0] = try RecordStore(whole: party.members[0]).restored()
        #expect(party.members[0].pendingProposals.map(\.reference) == [proposal.reference])
        var request = CommitRequest()
        request.references = [proposal.reference]
        try party.commit(request, by: 0)
        #expect(try party.dictionary(of: 2)[0x8003] == nil)
    }

    @Test func outcomeShowsStateAfterCommit() throws {
        var party = try Party.withComponents()
        var request = CommitRequest.changing(AppDataUpdate(0x8001, .update([8])))
        request.removing = [LeafIndex(2)]
        let pending = try party.members[0].commit(request, using: &party.rng)
        #expect(pending.outcome.extensions == pending.next.extensions)
        for member in [1, 2] {
            let staged = try party.members[member].staging(MLSMessage(pending.message), now: Party.now)
            #expect(staged.outcome.extensions == pending.next.extensions)
            #expect(staged.outcome.members.map(\.index) == [LeafIndex(0), LeafIndex(1)])
            // A removed member cannot follow the path, and sees the committer's old leaf.
            let committer = member == 2 ? party.members[0].ownLeaf : pending.next.ownLeaf
            #expect(staged.outcome.members.first?.leaf == committer)
            #expect((staged.next == nil) == (member == 2))
        }
    }
}
