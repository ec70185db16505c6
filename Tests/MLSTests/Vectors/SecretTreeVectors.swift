import TLSCodec
import Testing

@testable import MLS

@Suite(.needsVectors) struct SecretTreeVectors {
    private struct Vector: Decodable {
        struct SenderDataKey: Decodable { let senderDataSecret, ciphertext, key, nonce: HexBytes }
        struct Generation: Decodable {
            let generation: UInt32
            let handshakeKey, handshakeNonce, applicationKey, applicationNonce: HexBytes
        }
        let cipherSuite: UInt16
        let encryptionSecret: HexBytes
        let senderData: SenderDataKey
        let leaves: [[Generation]]
    }

    @Test func officialSecretTree() throws {
        var run = 0
        let limits = RatchetLimits(outOfOrder: 100, forward: 1000)
        for vector in try VectorFile.load("secret-tree", as: Vector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            let data = vector.senderData
            let key = SenderData.key(
                suite, senderDataSecret: data.senderDataSecret.secret, ciphertext: data.ciphertext.bytes)
            #expect(key.key == data.key.secret)
            #expect(key.nonce == data.nonce.secret)
            var tree = SecretTree(
                suite, shape: TreeShape(leafCount: vector.leaves.count),
                encryptionSecret: vector.encryptionSecret.secret)
            for (leaf, generations) in vector.leaves.enumerated() {
                for generation in generations {
                    for type in [RatchetType.handshake, .application] {
                        let (key, change) = try tree.key(
                            of: LeafIndex(leaf), type, generation: generation.generation, limits: limits)
                        tree.apply(change)
                        let isHandshake = type == .handshake
                        #expect(key.key == (isHandshake ? generation.handshakeKey : generation.applicationKey).secret)
                        #expect(
                            key.nonce == (isHandshake ? generation.handshakeNonce : generation.applicationNonce).secret)
                    }
                }
            }
        }
        #expect(run == 15)
    }

    private struct MessageVector: Decodable {
        let cipherSuite: UInt16
        let groupId: HexBytes
        let epoch: UInt64
        let treeHash, confirmedTranscriptHash, signaturePriv, signaturePub, encryptionSecret: HexBytes
        let senderDataSecret, membershipKey, proposal, proposalPriv, proposalPub: HexBytes
        let commit, commitPriv, commitPub, application, applicationPriv: HexBytes
    }

    @Test func officialMessageProtection() throws {
        var run = 0
        for vector in try VectorFile.load("message-protection", as: MessageVector.self) {
            guard let suite = supportedSuite(vector.cipherSuite) else { continue }
            run += 1
            #expect(try self.body(ofPrivate: vector.proposalPriv, vector, suite) == vector.proposal.bytes)
            #expect(try self.body(ofPrivate: vector.commitPriv, vector, suite) == vector.commit.bytes)
            let application = try self.content(ofPrivate: vector.applicationPriv, vector, suite).content.body
            #expect(application == .application(vector.application.bytes))
            #expect(try self.body(ofPublic: vector.proposalPub, vector, suite) == vector.proposal.bytes)
            #expect(try self.body(ofPublic: vector.commitPub, vector, suite) == vector.commit.bytes)
        }
        #expect(run == 5)
    }

    private func context(_ vector: MessageVector, _ suite: CipherSuite) -> [UInt8] {
        GroupContext(
            cipherSuite: suite, groupID: GroupID(vector.groupId.bytes), epoch: Epoch(rawValue: vector.epoch),
            treeHash: vector.treeHash.bytes,
            confirmedTranscriptHash: vector.confirmedTranscriptHash.bytes, extensions: []
        ).tlsEncoded()
    }

    private func content(
        ofPrivate bytes: HexBytes, _ vector: MessageVector, _ suite: CipherSuite
    ) throws -> AuthenticatedContent {
        guard case .privateMessage(let message) = try MLSMessage(bytes.bytes) else {
            throw MLSError(.malformed, "not a private message")
        }
        let tree = SecretTree(
            suite, shape: TreeShape(leafCount: 2), encryptionSecret: vector.encryptionSecret.secret)
        let data = try SenderData(suite, of: message, senderDataSecret: vector.senderDataSecret.secret)
        let type: RatchetType = message.contentType == .application ? .application : .handshake
        let (key, _) = try tree.key(
            of: data.leafIndex, type, generation: data.generation, limits: RatchetLimits(outOfOrder: 100, forward: 1000)
        )
        let content = try ContentEncryption.open(message, suite, key: key, senderData: data)
        #expect(
            content.hasValidSignature(
                suite, context: self.context(vector, suite), publicKey: vector.signaturePub.bytes))
        return content
    }

    private func body(ofPrivate bytes: HexBytes, _ vector: MessageVector, _ suite: CipherSuite) throws -> [UInt8] {
        let content = try self.content(ofPrivate: bytes, vector, suite).content
        return Array(content.encoded[content.bodyOffset...])
    }

    private func body(ofPublic bytes: HexBytes, _ vector: MessageVector, _ suite: CipherSuite) throws -> [UInt8] {
        guard case .publicMessage(let message) = try MLSMessage(bytes.bytes) else {
            throw MLSError(.malformed, "not a public message")
        }
        let context = self.context(vector, suite)
        try message.verifyMembershipTag(suite, membershipKey: vector.membershipKey.secret, context: context)
        #expect(
            message.authenticated.hasValidSignature(suite, context: context, publicKey: vector.signaturePub.bytes))
        let content = message.authenticated.content
        return Array(content.encoded[content.bodyOffset...])
    }
}
