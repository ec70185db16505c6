import TLSCodec
import Testing

@testable import MLS

@Suite(.needsVectors) struct TreeVectors {
    private struct ValidationVector: Decodable {
        let cipherSuite: UInt16
        let tree, groupId: HexBytes
        let treeHashes: [HexBytes]
        let resolutions: [[Int]]
    }

    @Test func officialTreeValidation() throws {
        var run = 0
        for vector in try VectorFile.load("tree-validation", as: ValidationVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            var tree = try RatchetTree(cipherSuite: suite, encoded: vector.tree.bytes)
            for position in 0..<tree.nodes.count {
                #expect(tree.hash(of: NodeIndex(position)) == vector.treeHashes[position].bytes)
                #expect(tree.resolution(of: NodeIndex(position)).map(\.value) == vector.resolutions[position])
            }
            try tree.validate(groupID: GroupID(vector.groupId.bytes), extensions: [])
            #expect(tree.encoded() == vector.tree.bytes)
        }
        #expect(run == 70)
    }

    private struct OperationVector: Decodable {
        let cipherSuite: UInt16
        let treeBefore, proposal, treeHashBefore, treeAfter, treeHashAfter: HexBytes
        let proposalSender: Int
    }

    @Test func officialTreeOperations() throws {
        let vectors = try VectorFile.load("tree-operations", as: OperationVector.self)
        for vector in vectors {
            let suite = try #require(supportedSuite(vector.cipherSuite))
            var tree = try RatchetTree(cipherSuite: suite, encoded: vector.treeBefore.bytes)
            #expect(tree.rootHash() == vector.treeHashBefore.bytes)
            switch try Proposal(tlsEncoded: vector.proposal.bytes) {
            case .add(let package): tree.add(package.leafNode)
            case .update(let leaf): tree.update(leaf, at: LeafIndex(vector.proposalSender))
            case .remove(let index):
                tree.remove(index)
                tree.truncate()
            default: Issue.record("unexpected proposal")
            }
            #expect(tree.encoded() == vector.treeAfter.bytes)
            #expect(tree.rootHash() == vector.treeHashAfter.bytes)
        }
        #expect(vectors.count == 5)
    }

    private struct TreeKEMVector: Decodable {
        struct PathSecret: Decodable { let node: Int, pathSecret: HexBytes }
        struct Leaf: Decodable {
            let index: Int, encryptionPriv: HexBytes, signaturePriv: HexBytes, pathSecrets: [PathSecret]
        }
        struct Path: Decodable {
            let sender: Int, updatePath: HexBytes, pathSecrets: [HexBytes?], commitSecret: HexBytes
            let treeHashAfter: HexBytes
        }
        let cipherSuite: UInt16
        let groupId: HexBytes
        let epoch: UInt64
        let confirmedTranscriptHash, ratchetTree: HexBytes
        let leavesPrivate: [Leaf]
        let updatePaths: [Path]
    }

    @Test func officialTreeKEM() throws {
        var run = 0
        for vector in try VectorFile.load("treekem", as: TreeKEMVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            let tree = try RatchetTree(cipherSuite: suite, encoded: vector.ratchetTree.bytes)
            let members = try vector.leavesPrivate.map { try self.privateTree($0, suite, tree) }
            for path in vector.updatePaths {
                try self.check(path, vector, suite, tree, members)
            }
        }
        #expect(run == 55)
    }

    private func privateTree(
        _ leaf: TreeKEMVector.Leaf, _ suite: CipherSuite, _ tree: RatchetTree
    ) throws -> (PrivateTree, SignaturePrivateKey) {
        let index = LeafIndex(leaf.index)
        let encryption = try HPKEPrivateKey(suite, bytes: leaf.encryptionPriv.bytes)
        let signature = try SignaturePrivateKey(suite, bytes: leaf.signaturePriv.bytes)
        #expect(tree.leaf(index)?.encryptionKey == encryption.publicKey)
        #expect(tree.leaf(index)?.signatureKey == signature.publicKey)
        var own = PrivateTree(leafIndex: index, leafKey: encryption)
        for secret in leaf.pathSecrets {
            let key = try suite.nodeKey(pathSecret: secret.pathSecret.secret)
            #expect(tree[NodeIndex(secret.node)].encryptionKey == key.publicKey)
            own.pathKeys[secret.node] = key
        }
        return (own, signature)
    }

    private func context(
        _ vector: TreeKEMVector, _ suite: CipherSuite, _ tree: inout RatchetTree
    ) -> [UInt8] {
        GroupContext(
            cipherSuite: suite, groupID: GroupID(vector.groupId.bytes), epoch: Epoch(rawValue: vector.epoch),
            treeHash: tree.rootHash(),
            confirmedTranscriptHash: vector.confirmedTranscriptHash.bytes, extensions: []
        ).tlsEncoded()
    }

    private func check(
        _ path: TreeKEMVector.Path, _ vector: TreeKEMVector, _ suite: CipherSuite, _ tree: RatchetTree,
        _ members: [(PrivateTree, SignaturePrivateKey)]
    ) throws {
        let sender = LeafIndex(path.sender)
        let update = try UpdatePath(tlsEncoded: path.updatePath.bytes)
        #expect(update.tlsEncoded() == path.updatePath.bytes)
        var after = tree
        try after.apply(update, from: sender)
        try after.verifyParentHashes()
        #expect(after.rootHash() == path.treeHashAfter.bytes)
        let context = self.context(vector, suite, &after)
        for (member, _) in members where member.leafIndex != sender {
            var own = member
            let secret = try after.decrypt(update, from: sender, own: &own, context: context, excluding: [])
            #expect(secret == path.commitSecret.secret)
            let expected = try #require(path.pathSecrets[Int(member.leafIndex.rawValue)])
            let ancestor = try #require(tree.shape.commonAncestor(member.leafIndex, sender))
            let node = try #require(
                after.filteredDirectPath(of: sender).first { $0.node.level >= ancestor.level }?.node)
            #expect(own.key(for: node)?.publicKey == (try suite.nodeKey(pathSecret: expected.secret).publicKey))
        }
        // A path created here, decrypted by every other member.
        let (own, signature) = try #require(members.first { $0.0.leafIndex == sender })
        let leaf = try #require(tree.leaf(sender))
        var rng = SystemRandomNumberGenerator()
        var created = tree
        let new = try created.setNewPath(
            of: sender,
            leaf: .init(
                groupID: GroupID(vector.groupId.bytes), credential: leaf.credential, capabilities: leaf.capabilities,
                extensions: leaf.extensions, signatureKey: signature,
                encryptionKey: .generate(suite, using: &rng)), using: &rng)
        #expect(own.leafIndex == sender)
        try created.verifyParentHashes()
        let createdContext = self.context(vector, suite, &created)
        let sent = try created.encrypt(new, context: createdContext, excluding: [], using: &rng)
        var received = tree
        try received.apply(UpdatePath(tlsEncoded: sent.tlsEncoded()), from: sender)
        #expect(received.rootHash() == created.rootHash())
        for (member, _) in members where member.leafIndex != sender {
            var other = member
            let secret = try received.decrypt(
                sent, from: sender, own: &other, context: createdContext, excluding: [])
            #expect(secret == new.commitSecret)
        }
    }
}
