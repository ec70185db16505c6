extension MLSGroup {
    /// Returns whether another copy of this state created a handshake message of the current epoch: the message names
    /// this member as its sender and carries its signature, but this state did not create it (RFC 9420 §6.1).
    ///
    /// False for encrypted messages that this state sent, because their key has been deleted.
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

    /// Consumes the key of an encrypted message that this member sent but this state did not: it comes from another
    /// copy of the state, or from a later state that was rolled back. Returns the message's epoch; for anything else
    /// returns nil and changes nothing.
    ///
    /// Anyone with the epoch's secrets can name this member as the sender, so the message must decrypt and its
    /// signature must verify. Commits are excluded; see ``isSignedByOwnLeaf(_:)``.
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
