import TLSCodec
import Testing

@testable import MLS

/// Requirements of RFC 9420 §12.2, in commits that a member with all keys has signed.
struct ProposalListRefusals {
    private func expect(
        _ code: MLSError.Code, _ party: Party, _ proposals: [ProposalOrRef], from sender: Int = 0,
        path: UpdatePath? = nil,
        now: UInt64? = Party.now, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        var receiver = party.members[1]
        let commit = try party.members[sender].forgedCommit(proposals, path: path)
        expectError(code, sourceLocation: sourceLocation) {
            _ = try receiver.process(MLSMessage(commit.tlsEncoded()), now: now)
        }
    }

    private func expect(
        _ code: MLSError.Code, _ party: Party, _ proposals: [Proposal],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try self.expect(code, party, proposals.map { .proposal($0) }, sourceLocation: sourceLocation)
    }

    @Test func s12_2_refusesUpdateByCommitter() throws {
        var party = try Party(3)
        let key = try HPKEPrivateKey.generate(party.suite, using: &party.rng)
        let leaf = try party.members[0].forgedLeaf(encryptionKey: key.publicKey)
        try self.expect(.invalidProposals, party, [.update(leaf)])
        let update = try party.members[0].proposeUpdate(using: &party.rng)
        var request = CommitRequest()
        request.references = [update.reference]
        expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
    }

    @Test func s12_2_refusesSelfRemovalByCommitter() throws {
        var party = try Party(3)
        try self.expect(.invalidProposals, party, [.remove(LeafIndex(0))])
        try self.expect(.invalidProposals, party, [.selfRemove])
        var request = CommitRequest()
        request.removing = [LeafIndex(0)]
        expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
    }

    @Test func s12_2_refusesTwoChangesOfOneLeaf() throws {
        var party = try Party(3)
        try self.expect(.invalidProposals, party, [.remove(LeafIndex(2)), .remove(LeafIndex(2))])
        let update = try party.members[2].proposeUpdate(wireFormat: .publicMessage, using: &party.rng)
        let second = try party.members[2].proposeUpdate(wireFormat: .publicMessage, using: &party.rng)
        for message in [update, second] { try party.deliver(message.message, from: 2) }
        try self.expect(.invalidProposals, party, [.reference(update.reference), .reference(second.reference)])
        try self.expect(
            .invalidProposals, party, [.reference(update.reference), .proposal(.remove(LeafIndex(2)))])
    }

    @Test func s12_1_3_refusesRemovalOfBlankLeaf() throws {
        let party = try Party(3)
        for index in [3, 4, 0xFFFF_FFFF] as [UInt32] {
            try self.expect(.invalidProposals, party, [.remove(LeafIndex(rawValue: index))])
        }
    }

    @Test func s12_2_refusesRepeatedAdd() throws {
        var party = try Party(3)
        let package = try party.bundle("newcomer").keyPackage
        try self.expect(.invalidProposals, party, [.add(package), .add(package)])
        // The same client again: another key package with the signature key of a member.
        let again = try party.bundle("again", signatureKey: party.members[2].signatureKey).keyPackage
        try self.expect(.invalidProposals, party, [.add(again)])
        var request = CommitRequest()
        request.adding = [try again.verified(now: Party.now)]
        expectError(.invalidProposals) { _ = try party.members[0].commit(request, using: &party.rng) }
        // Together with the removal of the old leaf it is valid.
        request.removing = [LeafIndex(2)]
        _ = try party.members[0].commit(request, using: &party.rng)
    }

    @Test func s12_2_refusesRepeatedPSK() throws {
        var party = try Party(3)
        let id = PreSharedKeyID(key: .external(id: [1]), nonce: party.rng.bytes(32))
        try self.expect(.invalidProposals, party, [.preSharedKey(id), .preSharedKey(id)])
        try self.expect(.unknownPSK, party, [.preSharedKey(id)])
    }

    @Test func s12_1_4_refusesMisusedPSK() throws {
        var party = try Party(3)
        let short = PreSharedKeyID(key: .external(id: [1]), nonce: party.rng.bytes(31))
        try self.expect(.invalidProposals, party, [.preSharedKey(short)])
        for usage in [PreSharedKeyID.ResumptionUsage.reinit, .branch] {
            let id = PreSharedKeyID(
                key: .resumption(usage: usage, groupID: party.members[0].groupID, epoch: 1), nonce: party.rng.bytes(32))
            try self.expect(.invalidProposals, party, [.preSharedKey(id)])
        }
    }

    @Test func s12_2_refusesTwoGroupContextExtensions() throws {
        let party = try Party(3)
        try self.expect(.invalidProposals, party, [.groupContextExtensions([]), .groupContextExtensions([])])
        let entry = Extension(type: .applicationID, data: [])
        try self.expect(.invalidProposals, party, [.groupContextExtensions([entry, entry])])
    }

    @Test func s12_1_7_membersMustSupportNewExtensions() throws {
        var party = try Party(3)
        let path = try party.members[0].honestPath(using: &party.rng)
        for extensions in [
            [Extension(type: .init(rawValue: 0xF00D), data: [])],
            [RequiredCapabilities(extensions: [0xF00D]).asExtension],
            [RequiredCapabilities(proposals: [0xF00D]).asExtension],
            [RequiredCapabilities(credentials: [2]).asExtension],
        ] {
            try self.expect(
                .invalidLeafNode, party, [.proposal(.groupContextExtensions(extensions))], path: path)
            var request = CommitRequest()
            request.extensions = extensions
            expectError(.invalidLeafNode) { _ = try party.members[0].commit(request, using: &party.rng) }
        }
        let broken = Extension(type: .requiredCapabilities, data: [9])
        try self.expect(.malformed, party, [.proposal(.groupContextExtensions([broken]))], path: path)
    }

    @Test func s12_2_reInitMustBeAlone() throws {
        let party = try Party(3)
        let reInit = try Proposal(tlsEncoded: [0, 5, 1, 9, 0, 1, 0, 1, 0])
        try self.expect(.invalidProposals, party, [reInit, .remove(LeafIndex(2))])
        // §12.1.5: the version must not decrease; §13.4: no extension twice.
        try self.expect(.invalidProposals, party, [try Proposal(tlsEncoded: [0, 5, 1, 9, 0, 0, 0, 1, 0])])
        try self.expect(
            .invalidProposals, party, [try Proposal(tlsEncoded: [0, 5, 1, 9, 0, 1, 0, 1, 6, 0, 1, 0, 0, 1, 0])])
    }

    @Test func s12_2_refusesExternalInitByMember() throws {
        try self.expect(.invalidProposals, Party(3), [.externalInit(kemOutput: [1])])
    }

    @Test func s12_2_refusesUnsupportedProposalType() throws {
        var party = try Party(2)
        let plain = try party.bundle("plain", capabilities: Capabilities(cipherSuites: [1], extensions: [0xF2EE]))
        var request = CommitRequest()
        request.adding = [try plain.keyPackage.verified(now: Party.now)]
        let pending = try party.commit(request, by: 0)
        party.members.append(try Party.join(pending.welcome, plain))
        try party.add(1)
        let leave = try party.members[3].propose(.selfRemove, wireFormat: .publicMessage, using: &party.rng)
        try party.deliver(leave.message, from: 3)
        try self.expect(.invalidProposals, party, [.reference(leave.reference)])
        // A member that the same commit removes need not support it.
        request = CommitRequest()
        request.references = [leave.reference]
        request.removing = [LeafIndex(2)]
        try party.commit(request, by: 0)
        #expect(party.gone == [2, 3])
    }

    @Test func s12_1_1_refusesInvalidAddedKeyPackage() throws {
        var party = try Party(3)
        let expired = try party.bundle("late", lifetime: Lifetime(notBefore: 0, notAfter: 1)).keyPackage
        try self.expect(.expired, party, [.add(expired)])
        var forged = try party.bundle("newcomer").keyPackage.tlsEncoded()
        forged[forged.count - 1] ^= 1
        try self.expect(.badSignature, party, [.add(try KeyPackage(tlsEncoded: forged))])
        let p256 = try KeyPackageBundle.generate(
            .p256AES128GCM, credential: .basic(identity: [1]), capabilities: Capabilities(cipherSuites: [2]),
            lifetime: Party.lifetime, signatureKey: .generate(.p256AES128GCM, using: &party.rng), using: &party.rng)
        try self.expect(.invalidKeyPackage, party, [.add(p256.keyPackage)])
        let x509 = try party.bundle(
            "certified", capabilities: Capabilities(cipherSuites: [1], credentials: [1, 2]),
            credential: .x509(certificates: [[1]])
        ).keyPackage
        // §7.3: every member must support the credential types in use.
        try self.expect(.invalidLeafNode, party, [.add(x509)])
    }

    @Test func s12_1_1_revalidatesKeyPackageAtCommit() throws {
        var party = try Party(2)
        let package = try party.bundle("newcomer").keyPackage
        let add = try party.members[1].propose(.add(package), using: &party.rng)
        try party.deliver(add.message, from: 1)
        var request = CommitRequest()
        request.references = [add.reference]
        request.now = Party.lifetime.notAfter + 1
        expectError(.expired) { _ = try party.members[0].commit(request, using: &party.rng) }
    }

    @Test func s13_4_newMembersMustSupportGroupExtensions() throws {
        var party = try Party(2, extensions: [Extension(type: .init(rawValue: 0xF2EE), data: [])])
        let plain = try party.bundle("plain", capabilities: Capabilities(cipherSuites: [1])).keyPackage
        try self.expect(.invalidLeafNode, party, [.add(plain)])
    }

    @Test func s12_4_2_refusesUnknownReference() throws {
        try self.expect(.unknownProposal, Party(3), [.reference([UInt8](repeating: 1, count: 32))])
    }

    @Test func s12_1_2_refusesInvalidUpdate() throws {
        var party = try Party(3)
        let member = party.members[2]
        let fresh = try HPKEPrivateKey.generate(party.suite, using: &party.rng).publicKey
        let others = party.members[0].ownLeaf
        let cases: [(LeafNode, MLSError.Code)] = [
            (try member.forgedLeaf(encryptionKey: member.ownLeaf.encryptionKey), .invalidLeafNode),
            (try member.forgedLeaf(encryptionKey: fresh, source: .commit(parentHash: [])), .invalidLeafNode),
            (try member.forgedLeaf(encryptionKey: [UInt8](repeating: 0, count: 32)), .invalidKey),
            (try member.forgedLeaf(encryptionKey: others.encryptionKey), .invalidProposals),
            (
                try member.forgedLeaf(encryptionKey: fresh, signatureKey: party.members[0].signatureKey),
                .invalidProposals
            ),
            (
                try member.forgedLeaf(encryptionKey: fresh, capabilities: Capabilities(cipherSuites: [2])),
                .invalidLeafNode
            ),
            // §7.3: the member would no longer support the credentials of the others.
            (
                try member.forgedLeaf(
                    encryptionKey: fresh, capabilities: Capabilities(cipherSuites: [1], credentials: [2]),
                    credential: .x509(certificates: [[1]])),
                .invalidLeafNode
            ),
            // Signed for another leaf index.
            (try party.members[0].forgedLeaf(encryptionKey: fresh), .badSignature),
        ]
        for (leaf, code) in cases {
            var trial = party
            let update = try trial.members[2].propose(.update(leaf), wireFormat: .publicMessage, using: &trial.rng)
            try trial.deliver(update.message, from: 2)
            let path = try trial.members[0].honestPath(using: &trial.rng)
            try self.expect(code, trial, [.reference(update.reference)], path: path)
        }
    }
}
