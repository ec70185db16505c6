/// Trial processing of messages by states that an application keeps in order to choose between branches.
///
/// A kept state is a copy of a group's value at an epoch, and shares its storage. ``staging(_:now:preSharedKeys:)``
/// returns the state after another member's commit, ``PendingCommit/next`` is the state after a commit by this member,
/// and ``withoutKeys(consumedBy:)`` prepares the state of the chosen branch for use.
extension MLSGroup {
    /// Verifies another member's commit, as ``process(_:now:preSharedKeys:)`` does, and changes nothing.
    public func staging(
        _ message: MLSMessage, now: UInt64?, preSharedKeys: [PreSharedKey] = []
    ) throws -> StagedCommit {
        var copy = self
        guard case .commit(let staged) = try copy.process(message, now: now, preSharedKeys: preSharedKeys) else {
            throw MLSError(.invalidCommit, "expected a commit, found another message")
        }
        return staged
    }

    /// Decrypts and verifies another member's application message of this epoch or a past one, and changes nothing.
    ///
    /// The message's key stays, so the same message can be read again: use it only to learn on which branch a message
    /// was sent. Messages to deliver are processed with ``process(_:now:preSharedKeys:)``.
    public func reading(_ message: MLSMessage) throws -> ApplicationMessage {
        var copy = self
        guard case .application(let application) = try copy.process(message, now: nil) else {
            throw MLSError(.malformed, "expected an application message, found another message")
        }
        return application
    }

    /// Returns the ProposalRef that a public proposal would have, without verifying the proposal; nil for other messages.
    package func statedReference(of message: MLSMessage) -> [UInt8]? {
        guard case .publicMessage(let message) = message, case .proposal = message.authenticated.content.body else {
            return nil
        }
        return message.authenticated.proposalReference(self.cipherSuite)
    }

    /// Deletes the message secrets of the epochs before `epoch`. A kept state has its own past, which would otherwise
    /// outlive the secrets that the group itself deletes (RFC 9420 §9.2).
    public mutating func deleteMessageSecrets(before epoch: Epoch) {
        for messages in self.past where messages.epoch < epoch { self.note(messages.records) }
        self.past.removeAll { $0.epoch < epoch }
        self.pastResumptionSecrets.removeAll { $0.epoch < epoch }
        self.note([.core])
    }

    /// Whether ``eraseSecrets()`` was called.
    package var isErased: Bool { self.secrets.isErased }

    /// Deletes the secrets of a group that this member is out of; the public state, and the epoch authenticator that names
    /// it, stay. Nothing can be read, sent or exported afterwards: where a value is needed, one takes its place that nothing
    /// else depends on, so that no key becomes one that others know. The leaf's private key stays with the leaf; without the
    /// deleted init secret it leads to no other secret.
    package mutating func eraseSecrets() {
        guard !self.isErased else { return }
        let filler = self.cipherSuite.deriveSecret(self.secrets.authenticator, "erased")
        for messages in [self.messages] + self.past { self.note(messages.records) }
        self.past = []
        self.pastResumptionSecrets = []
        self.secrets = EpochSecrets(erased: filler, authenticator: self.secrets.authenticator)
        self.messages = EpochMessages(
            epoch: self.epoch, context: self.messages.context, senderDataSecret: filler,
            secretTree: SecretTree(
                self.cipherSuite, shape: self.messages.secretTree.shape, encryptionSecret: filler))
        self.own.pathKeys = [:]
        self.proposals = []
        self.pendingLeafKeys = []
        self.note(self.messages.records)
        self.note([.core])
    }

    /// Returns this value without the message keys that `other` has consumed in the epochs that both hold, so that a
    /// change to this branch makes no used key usable again (RFC 9420 §9.2). Epochs of the same number on different
    /// branches have different keys.
    public func withoutKeys(consumedBy other: MLSGroup) -> MLSGroup {
        var result = self
        for messages in [self.messages] + self.past {
            guard let consumed = other.messages(of: messages.epoch), consumed.context == messages.context else {
                continue
            }
            let remaining = messages.secretTree.intersection(consumed.secretTree)
            result.note(messages.records)
            if messages.epoch == self.epoch {
                result.messages.secretTree = remaining
                result.note(result.messages.records)
            } else if let position = result.past.firstIndex(where: { $0.epoch == messages.epoch }) {
                result.past[position].secretTree = remaining
                result.note(result.past[position].records)
            }
        }
        return result
    }
}
