extension MLSGroup {
    /// Whether a handshake message of the current epoch that names this member as its sender really is this member's,
    /// although this state did not make it: another copy of the state did (RFC 9420 §6.1).
    ///
    /// False for what this state itself has sent encrypted, since the key is gone then.
    public func isSignedByOwnLeaf(_ message: MLSMessage) -> Bool {
        switch message {
        case .publicMessage(let message):
            let content = message.authenticated.content
            guard content.groupID == self.groupID, content.epoch == self.epoch,
                case .member(self.own.leafIndex) = content.sender
            else { return false }
            return self.isSignedByOwnLeaf(message.authenticated)
        case .privateMessage(let message):
            guard message.groupID == self.groupID, message.epoch == self.epoch, message.contentType != .application,
                let sender = try? SenderData(
                    self.cipherSuite, of: message, senderDataSecret: self.messages.senderDataSecret),
                sender.leafIndex == self.own.leafIndex,
                let (key, _) = try? self.messages.secretTree.key(
                    of: sender.leafIndex, .handshake, generation: sender.generation,
                    limits: self.configuration.ratchetLimits),
                let authenticated = try? ContentEncryption.open(
                    message, self.cipherSuite, key: key, senderData: sender)
            else { return false }
            return self.isSignedByOwnLeaf(authenticated)
        case .welcome, .groupInfo, .keyPackage: return false
        }
    }

    /// Uses up the key of an encrypted message that this member sent and this state did not: another copy of the state
    /// did, or a later state that was rolled back. Returns the message's epoch; nil, and no change, for anything else.
    ///
    /// Anyone with the epoch's secrets can name this member as the sender, so the message must decrypt and its signature
    /// must verify. Commits are left out: ``isSignedByOwnLeaf(_:)``.
    public mutating func consumeOwnKey(of message: MLSMessage) -> Epoch? {
        guard case .privateMessage(let message) = message, message.contentType != .commit,
            message.groupID == self.groupID,
            let messages = try? self.messages(of: message.epoch, message.contentType),
            let sender = try? SenderData(self.cipherSuite, of: message, senderDataSecret: messages.senderDataSecret),
            sender.leafIndex == self.own.leafIndex, let leaf = self.leaf(sender.leafIndex, in: message.epoch),
            let (key, change) = try? messages.secretTree.key(
                of: sender.leafIndex, message.contentType == .application ? .application : .handshake,
                generation: sender.generation, limits: self.configuration.ratchetLimits),
            let authenticated = try? ContentEncryption.open(message, self.cipherSuite, key: key, senderData: sender),
            authenticated.hasValidSignature(
                self.cipherSuite, context: messages.context, publicKey: leaf.signatureKey)
        else { return nil }
        self.apply(change, epoch: message.epoch)
        return message.epoch
    }

    private func isSignedByOwnLeaf(_ authenticated: AuthenticatedContent) -> Bool {
        authenticated.hasValidSignature(
            self.cipherSuite, context: self.contextBytes, publicKey: self.ownLeaf.signatureKey)
    }
}
