import TLSCodec
import Testing

@testable import MLS

/// Requirements of RFC 9420 §12.4.2 for a commit and its path.
struct CommitRefusals {
    private var party: Party
    private let honest: UpdatePath

    init() throws {
        var party = try Party(4)
        for committer in party.present { try party.commit(by: committer) }
        self.honest = try party.members[0].honestPath(using: &party.rng)
        self.party = party
    }

    private func expect(
        _ code: MLSError.Code, path: UpdatePath?, proposals: [Proposal] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let commit = try self.party.members[0].forgedCommit(proposals.map { .proposal($0) }, path: path)
        for receiver in 1...3 {
            var receiver = self.party.members[receiver]
            expectError(code, sourceLocation: sourceLocation) {
                _ = try receiver.process(MLSMessage(commit.tlsEncoded()), now: nil)
            }
        }
    }

    private func leaf(
        encryptionKey: [UInt8]? = nil, source: LeafNodeSource? = nil, signatureKey: SignaturePrivateKey? = nil,
        capabilities: Capabilities? = nil, extensions: [Extension] = []
    ) throws -> LeafNode {
        try self.party.members[0].forgedLeaf(
            encryptionKey: encryptionKey ?? self.honest.leafNode.encryptionKey,
            source: source ?? self.honest.leafNode.source, capabilities: capabilities, extensions: extensions,
            signatureKey: signatureKey)
    }

    @Test func s12_4_emptyCommitAndRemovalNeedPath() throws {
        try self.expect(.invalidCommit, path: nil)
        try self.expect(.invalidCommit, path: nil, proposals: [.groupContextExtensions([])])
        let commit = try self.party.members[0].forgedCommit([.proposal(.remove(LeafIndex(3)))])
        var receiver = self.party.members[1]
        expectError(.invalidCommit) { _ = try receiver.process(commit, now: nil) }
    }

    @Test func s12_4_2_validPathReachesConfirmationTag() throws {
        try self.expect(.badConfirmationTag, path: self.honest)
    }

    @Test func s12_4_2_refusesWrongConfirmationTag() throws {
        var party = self.party
        var request = CommitRequest()
        request.wireFormat = .publicMessage
        let pending = try party.members[0].commit(request, using: &party.rng)
        guard case .publicMessage(let message) = try MLSMessage(pending.message) else { return }
        let content = message.authenticated
        var tag = try #require(content.confirmationTag)
        tag[0] ^= 1
        let sender = party.members[0]
        let forged = MLSMessage.publicMessage(
            PublicMessage(
                AuthenticatedContent(
                    wireFormat: .publicMessage, content: content.content, signature: content.signature,
                    confirmationTag: tag), party.suite, membershipKey: sender.secrets.membership,
                context: sender.contextBytes))
        expectError(.badConfirmationTag) { _ = try party.members[1].process(forged, now: nil) }
        #expect(try party.members[1].process(MLSMessage(pending.message), now: nil).staged?.next != nil)
    }

    @Test func s7_5_pathMatchesFilteredDirectPath() throws {
        var short = self.honest
        short.nodes.removeLast()
        try self.expect(.invalidCommit, path: short)
        var long = self.honest
        long.nodes.append(long.nodes[0])
        try self.expect(.invalidCommit, path: long)
    }

    @Test func s7_9_2_refusesForgedParentHash() throws {
        for source in [
            LeafNodeSource.commit(parentHash: [UInt8](repeating: 1, count: 32)), .commit(parentHash: []), .update,
        ] {
            try self.expect(
                .invalidCommit, path: UpdatePath(leafNode: self.leaf(source: source), nodes: self.honest.nodes))
        }
        // Keys that differ from those that the leaf was signed over.
        var party = self.party
        var changed = self.honest
        changed.nodes[0].encryptionKey = try HPKEPrivateKey.generate(party.suite, using: &party.rng).publicKey
        try self.expect(.invalidCommit, path: changed)
    }

    @Test func s12_4_2_pathLeafNeedsNewKey() throws {
        let old = self.party.members[0].ownLeaf.encryptionKey
        try self.expect(
            .invalidLeafNode, path: UpdatePath(leafNode: self.leaf(encryptionKey: old), nodes: self.honest.nodes))
    }

    @Test func s12_4_2_refusesPathKeyAlreadyInTree() throws {
        let others = try #require(self.party.members[0].member(LeafIndex(2))?.encryptionKey)
        var duplicate = self.honest
        duplicate.nodes[1].encryptionKey = others
        try self.expect(.invalidCommit, path: duplicate)
        var twice = self.honest
        twice.nodes[1].encryptionKey = twice.nodes[0].encryptionKey
        try self.expect(.invalidCommit, path: twice)
        var lowOrder = self.honest
        lowOrder.nodes[1].encryptionKey = [UInt8](repeating: 0, count: 32)
        try self.expect(.invalidKey, path: lowOrder)
        try self.expect(
            .invalidCommit, path: UpdatePath(leafNode: self.leaf(encryptionKey: others), nodes: self.honest.nodes))
    }

    @Test func s7_3_refusesInvalidPathLeaf() throws {
        var bytes = self.honest.leafNode.tlsEncoded()
        bytes[bytes.count - 1] ^= 1
        try self.expect(
            .badSignature, path: UpdatePath(leafNode: LeafNode(tlsEncoded: bytes), nodes: self.honest.nodes))
        let usedKey = self.party.members[2].signatureKey
        try self.expect(
            .invalidLeafNode, path: UpdatePath(leafNode: self.leaf(signatureKey: usedKey), nodes: self.honest.nodes))
        try self.expect(
            .invalidLeafNode,
            path: UpdatePath(
                leafNode: self.leaf(extensions: [Extension(type: .init(rawValue: 0xF00D), data: [])]),
                nodes: self.honest.nodes))
        try self.expect(
            .invalidLeafNode,
            path: UpdatePath(
                leafNode: self.leaf(capabilities: Capabilities(cipherSuites: [1], credentials: [])),
                nodes: self.honest.nodes))
    }

    @Test func s7_3_refusesPathLeafWithForeignSignatureKey() throws {
        func expect(_ code: MLSError.Code, signedBy key: SignaturePrivateKey, proposals: [Proposal] = []) throws {
            let leaf = try self.leaf(signatureKey: key)
            try self.expect(code, path: UpdatePath(leafNode: leaf, nodes: self.honest.nodes), proposals: proposals)
        }
        for member in 1...3 { try expect(.invalidLeafNode, signedBy: self.party.members[member].signatureKey) }
        // A new key that no leaf has yet is accepted; the secrets were sealed for the tree with the honest leaf.
        var party = self.party
        let fresh = try SignaturePrivateKey.generate(party.suite, using: &party.rng)
        try expect(.decryptionFailed, signedBy: fresh)
        // The key of a member that the same commit adds.
        let added = try party.bundle("newcomer", signatureKey: fresh).keyPackage
        var add = CommitRequest()
        add.adding = [try added.verified(now: Party.now)]
        let path = try party.members[0].honestPath(add, using: &party.rng)
        let leaf = try party.members[0].forgedLeaf(
            encryptionKey: path.leafNode.encryptionKey, source: path.leafNode.source, signatureKey: fresh)
        let commit = try party.members[0].forgedCommit(
            [.proposal(.add(added))], path: UpdatePath(leafNode: leaf, nodes: path.nodes))
        expectError(.invalidLeafNode) { _ = try party.members[1].process(commit, now: Party.now) }
        // A committer does not create such a path either.
        var request = CommitRequest()
        request.signatureKey = party.members[2].signatureKey
        expectError(.invalidLeafNode) { _ = try party.members[0].commit(request, using: &party.rng) }
        // The key is free once the commit removes its member.
        request.removing = [LeafIndex(2)]
        try party.commit(request, by: 0)
        #expect(party.members[1].member(LeafIndex(0))?.signatureKey == party.members[2].signatureKey.publicKey)
    }

    @Test func s7_6_refusesWrongCiphertextCount() throws {
        for change in [[], [0, 0]] {
            var path = self.honest
            for node in path.nodes.indices {
                let secrets = path.nodes[node].encryptedPathSecrets
                path.nodes[node].encryptedPathSecrets = PathCiphertexts(change.map { secrets[$0] })
            }
            try self.expect(.invalidCommit, path: path)
        }
    }

    @Test func s7_6_refusesUnusablePathSecret() throws {
        var party = self.party
        var other = self.honest
        for node in other.nodes.indices {
            var sealed = Array(other.nodes[node].encryptedPathSecrets)
            sealed[0].ciphertext[0] ^= 1
            other.nodes[node].encryptedPathSecrets = PathCiphertexts(sealed)
        }
        try self.expect(.decryptionFailed, path: other)
        // A secret that can be decrypted, but derives another key than the path states.
        let sender = party.members[0]
        var tree = sender.tree
        try tree.apply(self.honest, from: LeafIndex(0))
        let context = GroupContext(
            cipherSuite: sender.cipherSuite, groupID: sender.groupID, epoch: sender.epoch.later(by: 1),
            treeHash: tree.rootHash(),
            confirmedTranscriptHash: sender.context.confirmedTranscriptHash, extensions: []
        ).tlsEncoded()
        let hpke = HPKE(party.suite)
        let info = hpke.encryptContext(label: "UpdatePathNode", context: context)
        var wrong = self.honest
        for (node, step) in zip(wrong.nodes.indices, tree.filteredDirectPath(of: LeafIndex(0))) {
            wrong.nodes[node].encryptedPathSecrets = PathCiphertexts(
                try tree.resolution(of: step.copath).map {
                    try hpke.seal(
                        .random(count: 32, using: &party.rng), to: #require(tree[$0].encryptionKey), info: info,
                        using: &party.rng)
                })
        }
        try self.expect(.invalidCommit, path: wrong)
    }

    @Test func s12_4_2_refusedCommitChangesNothing() throws {
        var party = self.party
        let commit = try party.members[0].forgedCommit([], path: self.honest)
        let before = party.members[1].epochAuthenticator
        expectError(.badConfirmationTag) { _ = try party.members[1].process(commit, now: nil) }
        #expect(party.members[1].epochAuthenticator == before)
        try party.commit(by: 2)
        try party.expectAgreement()
        try party.exchangeMessages()
    }
}
