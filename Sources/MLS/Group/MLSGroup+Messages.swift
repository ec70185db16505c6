import TLSCodec

/// Sending and receiving (RFC 9420 §6, §15).
extension MLSGroup {
    /// Encrypts an application message; returns the encoded MLSMessage.
    ///
    /// RFC 9420 §12.4 requires a member to commit pending proposals first; the application enforces this, because its
    /// rules decide who may commit.
    public mutating func protect(
        _ data: [UInt8], authenticatedData: [UInt8] = [], using rng: inout some RandomNumberGenerator
    ) throws -> [UInt8] {
        try self.requireActive()
        let content = self.frame(.application(data), try self.framed(authenticatedData))
        let signed = try self.sign(content, .privateMessage)
        return try self.encrypt(signed, using: &rng)
    }

    /// Sends a proposal, as a private or public message, and keeps it for a later commit; returns the encoded
    /// MLSMessage and its ProposalRef. A proposed PSK gets a fresh nonce. Without a wire format, the group's
    /// ``GroupRules`` select it.
    public mutating func propose(
        _ proposal: Proposal, wireFormat: WireFormat? = nil, authenticatedData: [UInt8] = [],
        using rng: inout some RandomNumberGenerator
    ) throws -> (message: [UInt8], reference: [UInt8]) {
        try self.requireActive()
        let wireFormat = try self.configuration.rules.wireFormat(wireFormat)
        try self.configuration.rules.requireAdmitted(proposal)
        let authenticatedData = try self.framed(authenticatedData)
        var proposal = proposal
        if case .preSharedKey(let id) = proposal {
            proposal = .preSharedKey(self.freshID(of: id.key, using: &rng))
        }
        let signed = try self.sign(self.frame(.proposal(proposal), authenticatedData), wireFormat)
        let message = try self.send(signed, using: &rng)
        let reference = signed.proposalReference(self.cipherSuite)
        self.proposals.append(
            CachedProposal(reference: reference, sender: self.own.leafIndex, proposal: proposal))
        self.note([.core])
        return (message, reference)
    }

    /// Proposes fresh keys for this member's leaf (RFC 9420 §12.1.2); they take effect when another member commits the
    /// proposal. `leafExtensions` is the complete new list of leaf extensions; nil keeps the current one.
    public mutating func proposeUpdate(
        wireFormat: WireFormat? = nil, signatureKey: SignaturePrivateKey? = nil, leafExtensions: [Extension]? = nil,
        using rng: inout some RandomNumberGenerator
    ) throws -> (message: [UInt8], reference: [UInt8]) {
        try self.configuration.rules.requireAdmitted(signatureKey, after: self.signatureKey)
        let encryptionKey = try HPKEPrivateKey.generate(self.cipherSuite, using: &rng)
        let signatureKey = signatureKey ?? self.signatureKey
        let old = self.ownLeaf
        let leaf = try LeafNode(
            encryptionKey: encryptionKey.publicKey, credential: old.credential, capabilities: old.capabilities,
            source: .update, extensions: leafExtensions ?? old.extensions,
            position: .init(groupID: self.groupID, leafIndex: self.own.leafIndex), signedBy: signatureKey)
        self.pendingLeafKeys.append(PendingLeafKeys(encryptionKey: encryptionKey, signatureKey: signatureKey))
        return try self.propose(.update(leaf), wireFormat: wireFormat, using: &rng)
    }

    /// Processes a message of another member.
    ///
    /// The group changes only if the message is authentic: its message key is then deleted. A commit is verified and
    /// staged, but not applied.
    ///
    /// - Parameters:
    ///   - message: a public or private message.
    ///   - now: Unix seconds, for the lifetime of key packages that a commit adds; nil skips that check.
    ///   - preSharedKeys: external PSKs that this member knows.
    public mutating func process(
        _ message: MLSMessage, now: UInt64?, preSharedKeys: [PreSharedKey] = []
    ) throws -> Received {
        switch message {
        case .privateMessage(let message):
            let (authenticated, change) = try self.open(message)
            return try self.handle(authenticated, now: now, preSharedKeys: preSharedKeys, consuming: change)
        case .publicMessage(let message):
            try self.verify(message)
            return try self.handle(message.authenticated, now: now, preSharedKeys: preSharedKeys, consuming: nil)
        // V6-4: Not a message within a group.
        case .welcome, .groupInfo, .keyPackage:
            throw MLSError(.malformed, "a \(message.wireFormat) is not a message within a group")
        }
    }

    // MARK: Sending

    func frame(_ body: FramedContent.Body, _ authenticatedData: [UInt8]) -> FramedContent {
        FramedContent(
            groupID: self.groupID, epoch: self.epoch, sender: .member(self.own.leafIndex),
            authenticatedData: authenticatedData, body: body)
    }

    func sign(_ content: FramedContent, _ wireFormat: WireFormat) throws -> AuthenticatedContent {
        let signed = AuthenticatedContent.toBeSigned(content, wireFormat: wireFormat, context: self.contextBytes)
        return AuthenticatedContent(
            wireFormat: wireFormat, content: content,
            signature: try self.signatureKey.sign(label: "FramedContentTBS", signed), confirmationTag: nil)
    }

    /// Frames signed content in its wire format; returns the encoded MLSMessage.
    mutating func send(
        _ authenticated: AuthenticatedContent, using rng: inout some RandomNumberGenerator
    ) throws -> [UInt8] {
        switch authenticated.wireFormat {
        case .publicMessage:
            return MLSMessage.publicMessage(
                PublicMessage(
                    authenticated, self.cipherSuite, membershipKey: self.secrets.membership, context: self.contextBytes
                )
            ).tlsEncoded()
        case .privateMessage: return try self.encrypt(authenticated, using: &rng)
        case .welcome, .groupInfo, .keyPackage:
            preconditionFailure("a handshake message must be a public or private message")
        }
    }

    private mutating func encrypt(
        _ authenticated: AuthenticatedContent, using rng: inout some RandomNumberGenerator
    ) throws -> [UInt8] {
        let type: RatchetType = authenticated.content.contentType == .application ? .application : .handshake
        let (generation, key, change) = try self.messages.secretTree.nextKey(of: self.own.leafIndex, type)
        let message = try ContentEncryption.seal(
            authenticated, self.cipherSuite, key: key, generation: generation, leafIndex: self.own.leafIndex,
            senderDataSecret: self.secrets.senderData, padding: self.padding(for: authenticated), using: &rng)
        // Consume the key before the message can be sent, so that it is never used twice.
        self.apply(change, epoch: self.epoch)
        return MLSMessage.privateMessage(message).tlsEncoded()
    }

    private func padding(for authenticated: AuthenticatedContent) -> Int {
        let size = self.configuration.paddingSize
        guard size > 0 else { return 0 }
        let length = authenticated.content.encoded.count - authenticated.content.bodyOffset
        return (size - length % size) % size
    }

    /// Returns data to send with a message: in a group with SafeAAD at least an empty structure.
    func framed(_ authenticatedData: [UInt8]) throws(MLSError) -> [UInt8] {
        guard self.messages.usesSafeAAD else { return authenticatedData }
        guard !authenticatedData.isEmpty else { return SafeAAD().tlsEncoded() }
        try Self.requireSafeAAD(authenticatedData)
        return authenticatedData
    }

    private static func requireSafeAAD(_ authenticatedData: [UInt8]) throws(MLSError) {
        // X4.9-2: In a group with SafeAAD, the authenticated data of every message is one.
        do { _ = try SafeAAD(tlsEncoded: authenticatedData) } catch { throw MLSError(decoding: "SafeAAD", error) }
    }

    // MARK: Receiving

    // V6-3: The message names this group.
    private func requireThisGroup(_ groupID: GroupID) throws(MLSError) {
        guard groupID == self.groupID else { throw MLSError(.wrongGroup, "the message's group id is not this group's") }
    }

    /// Returns the secrets of a message's epoch.
    func messages(of epoch: Epoch, _ type: ContentType) throws(MLSError) -> EpochMessages {
        // V6-3: The message names a known epoch.
        if epoch == self.epoch { return self.messages }
        guard epoch < self.epoch else {
            throw MLSError(.futureEpoch, "the message is of epoch \(epoch), this member is in epoch \(self.epoch)")
        }
        // V12.4.2-1: A Commit is of the current epoch.
        guard type == .application else {
            throw MLSError(.pastEpoch, "a handshake message of epoch \(epoch) arrived in epoch \(self.epoch)")
        }
        guard let past = self.past.first(where: { $0.epoch == epoch }) else {
            throw MLSError(
                .pastEpoch, "the secrets of epoch \(epoch) were deleted, this member is in epoch \(self.epoch)")
        }
        return past
    }

    private func open(
        _ message: PrivateMessage
    ) throws(MLSError) -> (AuthenticatedContent, (epoch: Epoch, change: SecretTree.Change)) {
        try self.requireThisGroup(message.groupID)
        if message.contentType != .application {
            try self.configuration.rules.requireAdmitted(WireFormat.privateMessage)
        }
        let messages = try self.messages(of: message.epoch, message.contentType)
        let suite = self.cipherSuite
        // V6.3.2-2: Sender data can only name a leaf.
        let senderData = try SenderData(suite, of: message, senderDataSecret: messages.senderDataSecret)
        guard senderData.leafIndex != self.own.leafIndex else {
            throw MLSError(.ownMessage, "the message is this member's own; its key was deleted")
        }
        // V6.3.2-1: The leaf that the sender data names is not blank.
        guard let leaf = self.leaf(senderData.leafIndex, in: message.epoch) else {
            throw MLSError(.invalidSender, "leaf \(senderData.leafIndex) was blank in epoch \(message.epoch)")
        }
        let type: RatchetType = message.contentType == .application ? .application : .handshake
        let (key, change) = try messages.secretTree.key(
            of: senderData.leafIndex, type, generation: senderData.generation, limits: self.configuration.ratchetLimits)
        // V12.4.2-2: The message decrypts, and its signature verifies.
        let authenticated = try ContentEncryption.open(message, suite, key: key, senderData: senderData)
        // V6.3.1-5: The FramedContentAuthData is valid.
        guard authenticated.hasValidSignature(suite, context: messages.context, publicKey: leaf.signatureKey) else {
            throw MLSError(
                .badSignature, "the signature of leaf \(senderData.leafIndex) does not verify (RFC 9420 §6.1)")
        }
        if messages.usesSafeAAD { try Self.requireSafeAAD(authenticated.content.authenticatedData) }
        return (authenticated, (message.epoch, change))
    }

    private func verify(_ message: PublicMessage) throws(MLSError) {
        let content = message.authenticated.content
        try self.requireThisGroup(content.groupID)
        // V6-2: Application messages are PrivateMessages.
        guard content.contentType != .application else {
            throw MLSError(.invalidSender, "application messages must be encrypted (RFC 9420 §6)")
        }
        // V12.1-1: A proposal is of the current epoch, and signed.
        // A handshake message of any other epoch is refused here, with the reason.
        _ = try self.messages(of: content.epoch, content.contentType)
        // V6.1-3: Content of senders outside the group is refused.
        // V12.1.8-1: Proposals of external senders are refused.
        guard case .member(let index) = content.sender else {
            throw MLSError(.invalidSender, "messages of senders outside the group are not accepted")
        }
        guard index != self.own.leafIndex else {
            throw MLSError(.ownMessage, "the message is this member's own")
        }
        // V6.1-2: The sender is a member with a leaf.
        guard let leaf = self.tree.leaf(index) else {
            throw MLSError(.invalidSender, "leaf \(index) is blank")
        }
        // V12.4.2-2: Membership tag and signature verify.
        try message.verifyMembershipTag(
            self.cipherSuite, membershipKey: self.secrets.membership, context: self.contextBytes)
        guard
            message.authenticated.hasValidSignature(
                self.cipherSuite, context: self.contextBytes, publicKey: leaf.signatureKey)
        else {
            throw MLSError(.badSignature, "the signature of leaf \(index) does not verify (RFC 9420 §6.1)")
        }
        if self.messages.usesSafeAAD { try Self.requireSafeAAD(content.authenticatedData) }
    }

    /// Returns the leaf at `index` in `epoch`, which must be the current epoch or a past one that is kept.
    func leaf(_ index: LeafIndex, in epoch: Epoch) -> LeafNode? {
        for past in self.past.reversed() where past.epoch >= epoch {
            if let replaced = past.replacedLeaves[index] { return replaced }
        }
        return self.tree.leaf(index)
    }

    /// Handles verified content by type. Consumes the message key of application messages and proposals.
    private mutating func handle(
        _ authenticated: AuthenticatedContent, now: UInt64?, preSharedKeys: [PreSharedKey],
        consuming change: (epoch: Epoch, change: SecretTree.Change)?
    ) throws -> Received {
        let content = authenticated.content
        guard case .member(let sender) = content.sender, let leaf = self.leaf(sender, in: content.epoch) else {
            throw MLSError(.invalidSender, "messages of senders outside the group are not accepted")
        }
        switch content.body {
        case .application(let data):
            if let change { self.apply(change.change, epoch: change.epoch) }
            return .application(
                ApplicationMessage(
                    epoch: content.epoch, sender: sender, senderLeaf: leaf,
                    authenticatedData: content.authenticatedData, data: data))
        case .proposal(let proposal):
            try self.configuration.rules.requireAdmitted(proposal)
            if let change { self.apply(change.change, epoch: change.epoch) }
            let reference = authenticated.proposalReference(self.cipherSuite)
            if !self.proposals.contains(where: { $0.reference == reference }) {
                self.proposals.append(CachedProposal(reference: reference, sender: sender, proposal: proposal))
                self.note([.core])
            }
            return .proposal(ReceivedProposal(reference: reference, sender: sender, proposal: proposal))
        case .commit(let commit):
            // Keep the key of a commit until its epoch ends. After a rollback to this epoch, a competing commit by the
            // same sender may use the same key, and must still be readable.
            return .commit(
                try self.stage(commit, authenticated, from: sender, now: now, preSharedKeys: preSharedKeys))
        }
    }

    mutating func apply(_ change: SecretTree.Change, epoch: Epoch) {
        self.note(change.records(epoch: epoch))
        if epoch == self.epoch {
            self.messages.secretTree.apply(change)
        } else if let position = self.past.firstIndex(where: { $0.epoch == epoch }) {
            self.past[position].secretTree.apply(change)
        }
    }
}
