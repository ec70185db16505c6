import TLSCodec

@testable import MLS

/// Messages that a malicious member with all keys could send: signed and tagged correctly unless stated otherwise.
extension MLSGroup {
    struct Forgery {
        var sender: Sender?
        var epoch: Epoch?
        var groupID: GroupID?
        var signatureKey: SignaturePrivateKey?
        var membershipKey: Secret?
        var confirmationTag: [UInt8] = Array(repeating: 0, count: 32)
    }

    func forgedContent(_ body: FramedContent.Body, _ forgery: Forgery) -> FramedContent {
        FramedContent(
            groupID: forgery.groupID ?? self.groupID, epoch: forgery.epoch ?? self.epoch,
            sender: forgery.sender ?? .member(self.own.leafIndex), authenticatedData: [], body: body)
    }

    private func forged(
        _ body: FramedContent.Body, _ wireFormat: WireFormat, _ forgery: Forgery
    ) throws -> AuthenticatedContent {
        let content = self.forgedContent(body, forgery)
        let signed = AuthenticatedContent.toBeSigned(content, wireFormat: wireFormat, context: self.contextBytes)
        let key = forgery.signatureKey ?? self.signatureKey
        return AuthenticatedContent(
            wireFormat: wireFormat, content: content, signature: try key.sign(label: "FramedContentTBS", signed),
            confirmationTag: content.contentType == .commit ? forgery.confirmationTag : nil)
    }

    /// A public message with an arbitrary body.
    func forgedPublicMessage(_ body: FramedContent.Body, _ forgery: Forgery = .init()) throws -> MLSMessage {
        .publicMessage(
            PublicMessage(
                try self.forged(body, .publicMessage, forgery), self.cipherSuite,
                membershipKey: forgery.membershipKey ?? self.secrets.membership, context: self.contextBytes))
    }

    func forgedCommit(_ proposals: [ProposalOrRef], path: UpdatePath? = nil) throws -> MLSMessage {
        try self.forgedPublicMessage(.commit(Commit(proposals: proposals, path: path)))
    }

    /// A private application message with chosen padding, generation and sender.
    func forgedPrivateMessage(
        _ text: [UInt8], padding: [UInt8] = [], leafIndex: LeafIndex? = nil, _ forgery: Forgery = .init()
    ) throws -> MLSMessage {
        let authenticated = try self.forged(.application(text), .privateMessage, forgery)
        let content = authenticated.content
        let (generation, key, _) = try self.messages.secretTree.nextKey(of: self.own.leafIndex, .application)
        var plaintext = TLSWriter()
        plaintext.writeFixed(Array(content.encoded[content.bodyOffset...]))
        authenticated.encodeAuth(to: &plaintext)
        plaintext.writeFixed(padding)
        let ciphertext = try self.cipherSuite.aead.seal(
            plaintext.bytes, key: key.key, nonce: key.nonce.copyBytes(),
            additionalData: PrivateMessage.contentAAD(
                groupID: content.groupID, epoch: content.epoch, contentType: .application, authenticatedData: []))
        let senderData = try SenderData(
            leafIndex: leafIndex ?? self.own.leafIndex, generation: generation, reuseGuard: [0, 0, 0, 0]
        ).sealed(
            self.cipherSuite, senderDataSecret: self.secrets.senderData, ciphertext: ciphertext,
            groupID: content.groupID, epoch: content.epoch, contentType: .application)
        return .privateMessage(
            PrivateMessage(
                groupID: content.groupID, epoch: content.epoch, contentType: .application, authenticatedData: [],
                encryptedSenderData: senderData, ciphertext: ciphertext))
    }

    /// A leaf for this member's own index, signed for `source`.
    func forgedLeaf(
        encryptionKey: [UInt8], source: LeafNodeSource = .update, capabilities: Capabilities? = nil,
        credential: Credential? = nil, extensions: [Extension] = [], signatureKey: SignaturePrivateKey? = nil
    ) throws -> LeafNode {
        try LeafNode(
            encryptionKey: encryptionKey, credential: credential ?? self.ownLeaf.credential,
            capabilities: capabilities ?? self.ownLeaf.capabilities, source: source, extensions: extensions,
            position: .init(groupID: self.groupID, leafIndex: self.own.leafIndex),
            signedBy: signatureKey ?? self.signatureKey)
    }

    /// The update path of a commit by this member in the current epoch.
    func honestPath(
        _ request: CommitRequest = .init(), using rng: inout some RandomNumberGenerator
    ) throws -> UpdatePath {
        var copy = self
        var request = request
        request.wireFormat = .publicMessage
        let pending = try copy.commit(request, using: &rng)
        guard case .publicMessage(let message) = try MLSMessage(pending.message),
            case .commit(let commit) = message.authenticated.content.body, let path = commit.path
        else { throw MLSError(.malformed, "the commit has no path") }
        return path
    }
}
