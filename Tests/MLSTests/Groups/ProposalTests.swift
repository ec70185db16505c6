import Testing

@testable import MLS

/// Proposals that arrive before the commit that includes them (RFC 9420 §12.1).
struct ProposalTests {
    private func request(_ references: [[UInt8]]) -> CommitRequest {
        var request = CommitRequest()
        request.references = references
        request.forcesPath = false
        return request
    }

    @Test(arguments: [WireFormat.publicMessage, .privateMessage])
    func commitsAddUpdateAndRemoveByReference(_ wireFormat: WireFormat) throws {
        var party = try Party(4)
        let bundle = try party.bundle("newcomer")
        let add = try party.members[1].propose(.add(bundle.keyPackage), wireFormat: wireFormat, using: &party.rng)
        try party.deliver(add.message, from: 1)
        let key = try SignaturePrivateKey.generate(party.suite, using: &party.rng)
        let update = try party.members[2].proposeUpdate(wireFormat: wireFormat, signatureKey: key, using: &party.rng)
        try party.deliver(update.message, from: 2)
        let remove = try party.members[0].propose(.remove(LeafIndex(3)), wireFormat: wireFormat, using: &party.rng)
        try party.deliver(remove.message, from: 0)
        #expect(
            party.members[1].pendingProposals.map(\.reference) == [add.reference, update.reference, remove.reference])
        var request = self.request([add.reference, update.reference, remove.reference])
        request.now = Party.now
        request.wireFormat = wireFormat
        let pending = try party.commit(request, by: 1)
        #expect(party.gone == [3])
        #expect(pending.changes.proposals.map(\.sender) == [LeafIndex(1), LeafIndex(2), LeafIndex(0)])
        #expect(pending.changes.hasPath)
        party.members.append(try Party.join(pending.welcome, bundle))
        try party.expectAgreement()
        #expect(party.members[0].member(LeafIndex(2))?.signatureKey == key.publicKey)
        #expect(party.members.allSatisfy { $0.epoch == 1 || $0.pendingProposals.isEmpty })
        try party.exchangeMessages()
        try party.commit(by: 2)
        try party.expectAgreement()
    }

    @Test func memberLeavesByPublicSelfRemove() throws {
        var party = try Party(3)
        let leave = try party.members[2].propose(.selfRemove, wireFormat: .publicMessage, using: &party.rng)
        try party.deliver(leave.message, from: 2)
        let pending = try party.commit(self.request([leave.reference]), by: 0)
        #expect(party.gone == [2])
        #expect(pending.changes.hasPath)
        #expect(party.members[1].tree.shape.leafCount == 2)
        try party.exchangeMessages()
    }

    @Test func proposalsEndWithTheirEpoch() throws {
        var party = try Party(3)
        let remove = try party.members[1].propose(.remove(LeafIndex(2)), using: &party.rng)
        try party.deliver(remove.message, from: 1)
        try party.commit(by: 0)
        #expect(party.members[0].pendingProposals.isEmpty)
        expectError(.unknownProposal) {
            _ = try party.members[0].commit(self.request([remove.reference]), using: &party.rng)
        }
        expectError(.pastEpoch) { _ = try party.members[0].process(MLSMessage(remove.message), now: nil) }
    }

    @Test func keepsRepeatedProposalOnce() throws {
        var party = try Party(2)
        let remove = try party.members[1].propose(
            .remove(LeafIndex(0)), wireFormat: .publicMessage, using: &party.rng)
        for _ in 0..<2 { try party.deliver(remove.message, from: 1) }
        #expect(party.members[0].pendingProposals.count == 1)
        party.members[0].dropPendingProposals { $0.sender == LeafIndex(1) }
        #expect(party.members[0].pendingProposals.isEmpty)
    }

    @Test func uncommittedUpdateChangesNothing() throws {
        var party = try Party(2)
        let update = try party.members[1].proposeUpdate(using: &party.rng)
        try party.deliver(update.message, from: 1)
        try party.commit(by: 0)
        try party.exchangeMessages()
        try party.commit(by: 1)
        try party.expectAgreement()
    }

    @Test func commitsGroupContextExtensionsByReference() throws {
        var party = try Party(3)
        let change = Proposal.groupContextExtensions([Extension(type: .init(rawValue: 0xF2EE), data: [7])])
        let (message, reference) = try party.members[2].propose(change, using: &party.rng)
        try party.deliver(message, from: 2)
        try party.commit(self.request([reference]), by: 0)
        #expect(party.members[1].extensions == [Extension(type: .init(rawValue: 0xF2EE), data: [7])])
        try party.expectAgreement()
    }

    @Test func membersAndNewMembersApplyPSKs() throws {
        var party = try Party(2)
        let external = PreSharedKey(
            id: PreSharedKeyID(key: .external(id: [1]), nonce: party.rng.bytes(32)), secret: Secret([1, 2, 3]))
        let resumption = PreSharedKey(
            id: PreSharedKeyID(
                key: .resumption(usage: .application, groupID: party.members[0].groupID, epoch: 0),
                nonce: party.rng.bytes(32)), secret: .empty)
        var request = CommitRequest()
        request.preSharedKeys = [external, resumption]
        // The second member joined in epoch 1 and does not have the secret of epoch 0.
        let unknown = try party.members[0].commit(request, using: &party.rng)
        expectError(.unknownPSK) {
            _ = try party.members[1].process(MLSMessage(unknown.message), now: nil, preSharedKeys: [external])
        }
        request.preSharedKeys = [external]
        let bundle = try party.bundle("newcomer")
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        let pending = try party.commit(request, by: 0)
        expectError(.unknownPSK) { _ = try Party.join(pending.welcome, bundle) }
        party.members.append(try Party.join(pending.welcome, bundle, preSharedKeys: [external]))
        try party.expectAgreement()
        let wrong = PreSharedKey(id: external.id, secret: Secret([9]))
        expectError(.decryptionFailed) { _ = try Party.join(pending.welcome, bundle, preSharedKeys: [wrong]) }
    }

    @Test func oldMembersKnowPastResumptionSecrets() throws {
        var party = try Party(2)
        try party.commit(by: 0)
        for epoch in [1, 2] as [UInt64] {
            var request = CommitRequest()
            request.preSharedKeys = [
                PreSharedKey(
                    id: PreSharedKeyID(
                        key: .resumption(
                            usage: .application, groupID: party.members[0].groupID, epoch: Epoch(rawValue: epoch)),
                        nonce: party.rng.bytes(32)), secret: .empty)
            ]
            try party.commit(request, by: 1)
            try party.expectAgreement()
        }
    }
}
