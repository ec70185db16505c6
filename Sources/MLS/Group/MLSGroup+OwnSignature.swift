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

    private func isSignedByOwnLeaf(_ authenticated: AuthenticatedContent) -> Bool {
        authenticated.hasValidSignature(
            self.cipherSuite, context: self.contextBytes, publicKey: self.ownLeaf.signatureKey)
    }
}
