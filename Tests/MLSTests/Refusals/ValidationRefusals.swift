import TLSCodec
import Testing

@testable import MLS

/// Requirements of RFC 9420 that docs/protocol/rfc9420-validation.md lists and no other suite covers.
struct ValidationRefusals {
    private let suite = CipherSuite.x25519AES128GCM

    private func senderData(of message: [UInt8], in group: MLSGroup) throws -> SenderData {
        guard case .privateMessage(let message) = try MLSMessage(message) else {
            throw MLSError(.malformed, "not a private message")
        }
        return try SenderData(self.suite, of: message, senderDataSecret: group.secrets.senderData)
    }

    // MARK: - §6

    @Test func s6_3_1_reuseGuardIsFresh() throws {
        var party = try Party(2)
        // Two copies of one state use the same generation: only the reuse guard separates their nonces.
        var copies = [party.members[0], party.members[0]]
        var guards: Set<[UInt8]> = []
        for index in copies.indices {
            let message = try copies[index].protect([1], using: &party.rng)
            let data = try self.senderData(of: message, in: party.members[1])
            #expect(data.generation == 0 && data.leafIndex == LeafIndex(0))
            guards.insert(data.reuseGuard)
            var receiver = party.members[1]
            #expect(try receiver.process(MLSMessage(message), now: nil).text == "\u{1}")
        }
        #expect(guards.count == 2)
    }

    @Test func s6_3_1_refusesWrongReuseGuard() throws {
        var party = try Party(2)
        guard case .privateMessage(let message) = try MLSMessage(party.members[0].protect([1], using: &party.rng))
        else { return }
        let secret = party.members[1].secrets.senderData
        var data = try SenderData(self.suite, of: message, senderDataSecret: secret)
        data.reuseGuard[0] ^= 1
        let forged = PrivateMessage(
            groupID: message.groupID, epoch: message.epoch, contentType: message.contentType,
            authenticatedData: message.authenticatedData,
            encryptedSenderData: try data.sealed(
                self.suite, senderDataSecret: secret, ciphertext: message.ciphertext, groupID: message.groupID,
                epoch: message.epoch, contentType: message.contentType), ciphertext: message.ciphertext)
        expectError(.decryptionFailed) { _ = try party.members[1].process(.privateMessage(forged), now: nil) }
    }

    @Test func s6_1_refusesPrivateHandshakeWithWrongSignature() throws {
        var party = try Party(3)
        let proposal = try party.members[0].propose(.remove(LeafIndex(2)), using: &party.rng)
        // Encrypted by member 0 with its own keys, and signed by another member.
        var forger = party.members[0]
        forger.signatureKey = party.members[2].signatureKey
        let forged = try forger.propose(.remove(LeafIndex(2)), using: &party.rng)
        expectError(.badSignature) { _ = try party.members[1].process(MLSMessage(forged.message), now: nil) }
        #expect(party.members[1].pendingProposals.isEmpty)
        _ = try party.members[1].process(MLSMessage(proposal.message), now: nil)
        #expect(party.members[1].pendingProposals.count == 1)
    }

    // MARK: - §7.3

    @Test func s7_3_refusesPathLeafWithUnsupportedCredentialType() throws {
        var party = try Party(3)
        let honest = try party.members[0].honestPath(using: &party.rng)
        let leaf = try party.members[0].forgedLeaf(
            encryptionKey: honest.leafNode.encryptionKey, source: honest.leafNode.source,
            capabilities: Capabilities(cipherSuites: [1], credentials: [1, 2]),
            credential: .x509(certificates: [[1]]))
        let commit = try party.members[0].forgedCommit([], path: UpdatePath(leafNode: leaf, nodes: honest.nodes))
        expectError(.invalidLeafNode) { _ = try party.members[1].process(commit, now: nil) }
    }

    @Test func s7_3_refusesTreeWithUnsupportedCredentialType() throws {
        var party = try Party(1)
        let plain = try party.bundle("plain").keyPackage.leafNode
        let certified = try party.bundle(
            "certified", capabilities: Capabilities(cipherSuites: [1], credentials: [1, 2]),
            credential: .x509(certificates: [[1]])
        ).keyPackage.leafNode
        var tree = RatchetTree(cipherSuite: self.suite, leaf: plain)
        try tree.validate(groupID: [1], extensions: [])
        tree.add(certified)
        expectError(.invalidLeafNode) { try tree.validate(groupID: [1], extensions: []) }
    }

    @Test func s7_3_refusesTreeWithUnsupportedLeafExtension() throws {
        var party = try Party(1)
        let leaf = try party.bundle(
            "member", leafExtensions: [Extension(type: .init(rawValue: 0xF00D), data: [])]
        ).keyPackage.leafNode
        var tree = RatchetTree(cipherSuite: self.suite, leaf: leaf)
        expectError(.invalidLeafNode) { try tree.validate(groupID: [1], extensions: []) }
    }

    // MARK: - §8.4

    @Test func s8_4_pskNonceIsFresh() throws {
        var party = try Party(2)
        let key = PreSharedKey(
            id: PreSharedKeyID(key: .external(id: [1]), nonce: [UInt8](repeating: 0, count: 32)), secret: Secret([1]))
        var request = CommitRequest()
        request.preSharedKeys = [key]
        var nonces: Set<[UInt8]> = [key.id.nonce]
        for _ in 0..<2 {
            let pending = try party.commit(request, by: 0)
            for proposed in pending.changes.proposals {
                guard case .preSharedKey(let id) = proposed.proposal else { continue }
                #expect(id.nonce.count == 32)
                nonces.insert(id.nonce)
            }
        }
        let proposal = try party.members[1].propose(.preSharedKey(key.id), using: &party.rng)
        try party.deliver(proposal.message, from: 1)
        guard case .preSharedKey(let id)? = party.members[0].pendingProposals.first?.proposal else {
            Issue.record("expected a PSK proposal")
            return
        }
        nonces.insert(id.nonce)
        #expect(nonces.count == 4)
    }

    @Test func s8_4_refusesReorderedPSKs() throws {
        var party = try Party(2)
        let keys = (1...2).map { number in
            PreSharedKey(
                id: PreSharedKeyID(key: .external(id: [number]), nonce: []), secret: Secret([number]))
        }
        let bundle = try party.bundle("newcomer")
        var request = CommitRequest()
        request.preSharedKeys = keys
        request.adding = [try bundle.keyPackage.verified(now: Party.now)]
        let pending = try party.commit(request, by: 0)
        guard case .welcome(let welcome) = try MLSMessage(#require(pending.welcome)) else { return }
        let hpke = HPKE(self.suite)
        let info = hpke.encryptContext(label: "Welcome", context: welcome.encryptedGroupInfo)
        let opened = try hpke.open(welcome.secrets[0].encryptedGroupSecrets, with: bundle.initKey, info: info)
        let secrets = try GroupSecrets(tlsEncoded: opened.copyBytes())
        for psks in [Array(secrets.psks.reversed()), [secrets.psks[0]], []] {
            let sealed = GroupSecrets(joinerSecret: secrets.joinerSecret, pathSecret: secrets.pathSecret, psks: psks)
            let forged = Welcome(
                cipherSuite: self.suite,
                secrets: [
                    EncryptedGroupSecrets(
                        newMember: bundle.keyPackage.reference,
                        encryptedGroupSecrets: try hpke.seal(
                            sealed.encoded(), to: bundle.initKey.publicKey, info: info, using: &party.rng))
                ], encryptedGroupInfo: welcome.encryptedGroupInfo)
            expectError(.decryptionFailed) { _ = try MLSGroup.join(forged, with: bundle, preSharedKeys: keys) }
        }
        party.members.append(try MLSGroup.join(welcome, with: bundle, preSharedKeys: keys))
        try party.expectAgreement()
    }

    // MARK: - §11

    @Test func s11_newGroupStartsAtEpochZero() throws {
        var party = try Party(1)
        let group = party.members[0]
        #expect(group.epoch == 0 && group.members.count == 1 && group.context.confirmedTranscriptHash.isEmpty)
        #expect(group.context.treeHash.count == 32)
        let tag = self.suite.hash.hmac(key: group.secrets.confirmation, [])
        #expect(group.interimTranscriptHash == self.suite.interimTranscriptHash(confirmed: [], confirmationTag: tag))
        let bundle = try party.bundle("creator")
        let secrets = try (0..<2).map { _ in
            try MLSGroup.create(groupID: [1], member: bundle, using: &party.rng).epochAuthenticator.copyBytes()
        }
        #expect(secrets[0] != secrets[1])
    }

    @Test func s11_1_refusesExtensionsUnsupportedByCreator() throws {
        var party = try Party(1)
        let bundle = try party.bundle("creator", capabilities: Capabilities(cipherSuites: [1]))
        let entry = Extension(type: .applicationID, data: [])
        for (extensions, code) in [
            ([Extension(type: .init(rawValue: 0xF00D), data: [])], MLSError.Code.invalidLeafNode),
            ([RequiredCapabilities(proposals: [0xF00D]).asExtension], .invalidLeafNode),
            ([entry, entry], .invalidCommit),
        ] {
            expectError(code) {
                _ = try MLSGroup.create(groupID: [1], member: bundle, extensions: extensions, using: &party.rng)
            }
        }
    }

    // MARK: - §12

    @Test func s12_3_newExtensionsApplyBeforeAdditions() throws {
        var party = try Party(3)
        let plain = try party.bundle("plain", capabilities: Capabilities(cipherSuites: [1])).keyPackage
        let change = Proposal.groupContextExtensions([RequiredCapabilities(extensions: [0xF2EE]).asExtension])
        let path = try party.members[0].honestPath(using: &party.rng)
        for proposals in [[change, .add(plain)], [.add(plain), change]] {
            let commit = try party.members[0].forgedCommit(proposals.map { .proposal($0) }, path: path)
            expectError(.invalidLeafNode) { _ = try party.members[1].process(commit, now: Party.now) }
        }
        var request = CommitRequest()
        request.extensions = [RequiredCapabilities(extensions: [0xF2EE]).asExtension]
        request.adding = [try plain.verified(now: Party.now)]
        expectError(.invalidLeafNode) { _ = try party.members[0].commit(request, using: &party.rng) }
    }

    @Test func s12_4_updatesAndDeparturesNeedPath() throws {
        var party = try Party(3)
        let update = try party.members[2].proposeUpdate(wireFormat: .publicMessage, using: &party.rng)
        let leave = try party.members[2].propose(.selfRemove, wireFormat: .publicMessage, using: &party.rng)
        for message in [update.message, leave.message] { try party.deliver(message, from: 2) }
        for reference in [update.reference, leave.reference] {
            let commit = try party.members[0].forgedCommit([.reference(reference)])
            expectError(.invalidCommit) { _ = try party.members[1].process(commit, now: nil) }
        }
    }

    @Test func s12_4_1_welcomeCoversEveryNewMember() throws {
        var party = try Party(2)
        let pending = try party.add(3, by: 1)
        guard case .welcome(let welcome) = try MLSMessage(#require(pending.welcome)) else { return }
        let added = pending.changes.added.map(\.leaf)
        #expect(added.count == 3 && welcome.secrets.count == 3)
        #expect(Set(welcome.secrets.map(\.newMember)).count == 3)
    }

    @Test func s12_4_3_1_refusesRepeatedParentKey() throws {
        var party = try Party(4)
        for committer in party.present { try party.commit(by: committer) }
        var tree = party.members[0].tree
        try tree.validateUniqueKeys()
        let parent = try #require(tree.parent(NodeIndex(3)))
        let key = try #require(tree.leaf(LeafIndex(2))?.encryptionKey)
        tree.set(
            .parent(
                ParentNode(encryptionKey: key, parentHash: parent.parentHash, unmergedLeaves: parent.unmergedLeaves)),
            at: NodeIndex(3))
        expectError(.invalidTree) { try tree.validateUniqueKeys() }
    }

    @Test func s12_4_3_3_refusesTreeEndingInBlankNode() throws {
        var party = try Party(3)
        try party.commit(by: 0)
        #expect(party.members[0].tree.nodes.count == 7)
        let encoded = party.members[1].encodedRatchetTree
        var reader = TLSReader(encoded)
        let count = try reader.readVector { (inner: inout TLSReader) throws(TLSCodecError) -> Int in
            var count = 0
            while !inner.isAtEnd {
                _ = try RatchetTree.node(from: &inner, isLeaf: count & 1 == 0)
                count += 1
            }
            return count
        }
        #expect(count == 5)
        #expect(try RatchetTree(cipherSuite: self.suite, encoded: encoded).nodes.count == 7)
    }
}
