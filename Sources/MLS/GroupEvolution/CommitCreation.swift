import TLSCodec

/// Contents of a commit to create.
public struct CommitRequest: Sendable {
    /// Key packages of the members to add.
    public var adding: [VerifiedKeyPackage] = []
    /// Leaves of the members to remove; the committer's own is refused.
    public var removing: [LeafIndex] = []
    /// The complete new list of GroupContext extensions; nil to keep the current one.
    public var extensions: [Extension]?
    /// Changes of components' data in the GroupContext, at most one for each component.
    public var appDataUpdates: [AppDataUpdate] = []
    /// External and resumption PSKs to mix in, with their secrets; each gets a fresh nonce.
    public var preSharedKeys: [PreSharedKey] = []
    /// Other members' proposals to commit, by ProposalRef.
    public var references: [[UInt8]] = []
    /// Whether to create fresh keys even if no proposal requires it, which locks out anyone who knew the old keys. Nil
    /// creates them unless the commit contains only AppDataUpdates, which are cheap without a path.
    public var forcesPath: Bool?
    /// New signature key of this member's leaf; nil keeps the current one. A new leaf is sent in a path, so the commit
    /// has one if this or one of the next two is set, whatever ``forcesPath`` is.
    public var signatureKey: SignaturePrivateKey?
    /// New capabilities of this member's leaf; nil keeps the current ones.
    public var capabilities: Capabilities?
    /// The complete new list of this member's leaf extensions; nil keeps the current one.
    public var leafExtensions: [Extension]?
    /// Framing of the commit: public or private message; nil for that of the group's ``GroupRules``.
    public var wireFormat: WireFormat?
    /// Data to send with the commit, authenticated but not encrypted.
    public var authenticatedData: [UInt8] = []
    /// Time in Unix seconds for checking the lifetime of key packages that others proposed; nil skips that check.
    public var now: UInt64?
    /// Whether the Welcome includes the ratchet tree.
    public var includesRatchetTree = true

    /// Creates a request that only renews this member's keys.
    public init() {}

    fileprivate var changesLeaf: Bool {
        self.signatureKey != nil || self.capabilities != nil || self.leafExtensions != nil
    }
}

extension MLSGroup {
    /// Creates a commit (RFC 9420 §12.4.1). The group itself only consumes a message key; the next epoch is in the
    /// result. `work` runs the encryption for the members of a Welcome and of a path.
    public mutating func commit(
        _ request: CommitRequest, using rng: inout some RandomNumberGenerator, work: any WorkExecutor = SerialWork()
    ) throws -> PendingCommit {
        try self.requireActive()
        let rules = self.configuration.rules
        let wireFormat = try rules.wireFormat(request.wireFormat)
        try rules.requireAdmitted(request.signatureKey, after: self.signatureKey)
        let authenticatedData = try self.framed(request.authenticatedData)
        let list = ProposalList(committer: self.own.leafIndex, proposals: try self.queue(request, using: &rng))
        // V12.4-1: The sender verifies the list of proposals.
        try list.validate(self)
        try self.requirePresentData(list)
        // V12.4.1-1: The committer adds a path where it is required.
        let hasPath =
            (request.forcesPath ?? !list.holdsOnlyAppDataUpdates) || request.changesLeaf || list.requiresPath
        // V8.4-1: Commit and GroupSecrets name the same PSKs in the same order.
        let preSharedKeys = try self.resolve(list.proposals, request.preSharedKeys)
        var state = try list.apply(to: self, hasPath: hasPath, now: request.now)
        let path = hasPath ? try self.makePath(request, &state, using: &rng, work) : nil
        let commit = Commit(proposals: list.proposals.map(\.inCommit), path: path?.update)
        let signed = try self.sign(self.frame(.commit(commit), authenticatedData), wireFormat)
        let epoch = try NextEpoch(
            self, commit: signed, treeHash: state.tree.rootHash(), extensions: state.extensions,
            commitSecret: path?.new.commitSecret ?? Secret(count: self.cipherSuite.hashLength) { _ in },
            preSharedKeys: preSharedKeys)
        let message = try self.send(
            AuthenticatedContent(
                wireFormat: signed.wireFormat, content: signed.content, signature: signed.signature,
                confirmationTag: epoch.confirmationTag),
            using: &rng)
        let signatureKey = request.signatureKey ?? self.signatureKey
        let next = self.advanced(to: epoch, state, own: path?.own ?? self.own, signatureKey: signatureKey)
        let welcome = try next.welcome(
            for: state, path: path?.new, epoch, preSharedKeys, includesTree: request.includesRatchetTree, using: &rng,
            work)
        return PendingCommit(message: message, welcome: welcome, changes: state.changes, next: next)
    }

    private func queue(
        _ request: CommitRequest, using rng: inout some RandomNumberGenerator
    ) throws(MLSError) -> [QueuedProposal] {
        let own = self.own.leafIndex
        var queued: [QueuedProposal] = []
        for reference in request.references {
            guard let cached = self.proposals.first(where: { $0.reference == reference }) else {
                throw MLSError(.unknownProposal, "a proposal to commit is not pending")
            }
            queued.append(
                QueuedProposal(proposal: cached.proposal, sender: cached.sender, reference: reference))
        }
        func append(_ proposal: Proposal, isVerified: Bool = false) {
            queued.append(
                QueuedProposal(proposal: proposal, sender: own, reference: nil, isVerified: isVerified))
        }
        for package in request.adding { append(.add(package.keyPackage), isVerified: true) }
        // The order has no effect; members of groups with components write removals last.
        let removals = request.removing.map(Proposal.remove)
        for removal in removals where request.appDataUpdates.isEmpty { append(removal) }
        for key in request.preSharedKeys { append(.preSharedKey(self.freshID(of: key.id.key, using: &rng))) }
        if let extensions = request.extensions { append(.groupContextExtensions(extensions)) }
        for update in request.appDataUpdates { append(.appDataUpdate(update)) }
        for removal in removals where !request.appDataUpdates.isEmpty { append(removal) }
        return queued
    }

    /// Throws if a proposal by this member removes a component's data that is absent: the draft forbids it, although
    /// peers accept it.
    private func requirePresentData(_ list: ProposalList) throws(MLSError) {
        for case .appDataUpdate(let update) in list.proposals.filter(\.isInline).map(\.proposal)
        where update.operation == .remove {
            guard try AppDataDictionary(in: self.extensions)?[update.component] != nil else {
                throw MLSError(
                    .invalidProposals,
                    "component \(update.component) is removed but has no data (MLS extensions draft §4.7)")
            }
        }
    }

    private struct OwnPath {
        let new: RatchetTree.NewPath
        let update: UpdatePath
        let own: PrivateTree
    }

    private func makePath(
        _ request: CommitRequest, _ state: inout ProvisionalState, using rng: inout some RandomNumberGenerator,
        _ work: any WorkExecutor
    ) throws -> OwnPath {
        let old = self.ownLeaf
        let encryptionKey = try HPKEPrivateKey.generate(self.cipherSuite, using: &rng)
        let new = try state.tree.setNewPath(
            of: self.own.leafIndex,
            leaf: .init(
                groupID: self.groupID, credential: old.credential,
                capabilities: request.capabilities ?? old.capabilities,
                extensions: request.leafExtensions ?? old.extensions,
                signatureKey: request.signatureKey ?? self.signatureKey, encryptionKey: encryptionKey),
            using: &rng)
        try new.leaf.validate(GroupRequirements(state.extensions, self.configuration.rules))
        try state.tree.validateCredentialSupport(after: new.leaf, replaces: old)
        state.changes.updated.append(.init(index: self.own.leafIndex, old: old, new: new.leaf))
        let context = try self.provisionalContext(&state)
        let update = try state.tree.encrypt(new, context: context, excluding: state.addedLeaves, using: &rng, work)
        var own = PrivateTree(leafIndex: self.own.leafIndex, leafKey: encryptionKey, pathKeys: self.own.pathKeys)
        for (step, key) in zip(new.path, new.keys) { own.pathKeys[step.node.value] = key }
        return OwnPath(new: new, update: update, own: own)
    }

    /// Returns the GroupContext under which path secrets are encrypted (RFC 9420 §12.4.1): the new epoch's, except for
    /// the transcript hash, which depends on the commit.
    func provisionalContext(_ state: inout ProvisionalState) throws(MLSError) -> [UInt8] {
        GroupContext(
            cipherSuite: self.cipherSuite, groupID: self.groupID, epoch: try self.nextEpoch,
            treeHash: state.tree.rootHash(),
            confirmedTranscriptHash: self.context.confirmedTranscriptHash, extensions: state.extensions
        ).tlsEncoded()
    }
}
