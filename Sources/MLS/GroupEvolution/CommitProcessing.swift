import TLSCodec

extension MLSGroup {
    /// Verifies another member's commit and computes the next epoch (RFC 9420 §12.4.2).
    func stage(
        _ commit: Commit, _ authenticated: AuthenticatedContent, from sender: LeafIndex, now: UInt64?,
        preSharedKeys: [PreSharedKey]
    ) throws(MLSError) -> StagedCommit {
        let list = ProposalList(
            committer: sender, proposals: try self.resolve(commit, from: sender),
            tolerances: self.configuration.rules.tolerances)
        // V12.4-1: The receiver verifies the list of proposals.
        try list.validate(self)
        // V12.4-2: A Commit has a path if it is empty or a proposal requires one.
        guard commit.path != nil || !list.requiresPath else {
            throw MLSError(.invalidCommit, "the commit lacks its required update path (RFC 9420 §12.4)")
        }
        var state = try list.apply(to: self, hasPath: commit.path != nil, now: now)
        guard !state.changes.removed.contains(where: { $0.index == self.own.leafIndex }) else {
            return StagedCommit(epoch: self.epoch, changes: state.changes, outcome: state.outcome, next: nil)
        }
        var (own, signatureKey) = self.ownKeys(after: state)
        var commitSecret = Secret(count: self.cipherSuite.hashLength) { _ in }
        if let path = commit.path { commitSecret = try self.applyPath(path, from: sender, &state, &own) }
        let epoch = try NextEpoch(
            self, commit: authenticated, treeHash: state.tree.rootHash(), extensions: state.extensions,
            commitSecret: commitSecret, preSharedKeys: try self.resolve(list.proposals, preSharedKeys))
        // V6.1-4: The confirmation tag is valid.
        // V12.4.2-11: The confirmation tag matches the next epoch.
        guard let tag = authenticated.confirmationTag, constantTimeEqual(tag, epoch.confirmationTag) else {
            throw MLSError(.badConfirmationTag, "the commit's confirmation tag does not match (RFC 9420 §12.4.2)")
        }
        return StagedCommit(
            epoch: self.epoch, changes: state.changes, outcome: state.outcome,
            next: self.advanced(to: epoch, state, own: own, signatureKey: signatureKey))
    }

    private func resolve(_ commit: Commit, from sender: LeafIndex) throws(MLSError) -> [QueuedProposal] {
        var queued: [QueuedProposal] = []
        for entry in commit.proposals {
            switch entry {
            case .proposal(let proposal):
                queued.append(QueuedProposal(proposal: proposal, sender: sender, reference: nil))
            case .reference(let reference):
                // V12.4.2-3: Every proposal that is named by reference has arrived.
                guard let cached = self.proposals.first(where: { $0.reference == reference }) else {
                    throw MLSError(
                        .unknownProposal, "the commit refers to a proposal that has not arrived (RFC 9420 §12.4.2)")
                }
                queued.append(
                    QueuedProposal(proposal: cached.proposal, sender: cached.sender, reference: reference))
            }
        }
        return queued
    }

    /// Returns this member's private keys after the commit's Update proposals, one of which may be its own.
    private func ownKeys(after state: ProvisionalState) -> (PrivateTree, SignaturePrivateKey) {
        var own = self.own
        var signatureKey = self.signatureKey
        if let update = state.changes.updated.first(where: { $0.index == self.own.leafIndex }),
            let keys = self.pendingLeafKeys.first(where: { $0.encryptionKey.publicKey == update.new.encryptionKey })
        {
            own = PrivateTree(leafIndex: own.leafIndex, leafKey: keys.encryptionKey, pathKeys: own.pathKeys)
            signatureKey = keys.signatureKey
        }
        own.dropStaleKeys(state.tree)
        return (own, signatureKey)
    }

    /// Validates and applies the committer's path; returns the commit secret.
    private func applyPath(
        _ path: UpdatePath, from sender: LeafIndex, _ state: inout ProvisionalState, _ own: inout PrivateTree
    ) throws(MLSError) -> Secret {
        guard let old = state.tree.leaf(sender) else {
            throw MLSError(.invalidSender, "the committer's leaf \(sender) is blank")
        }
        // V12.4.2-5: The leaf of the path is valid.
        try state.tree.validate(
            replacement: path.leafNode, of: old, at: sender, self.groupID,
            GroupRequirements(state.extensions, self.configuration.rules))
        try state.tree.apply(path, from: sender)
        try state.tree.validateCredentialSupport(after: path.leafNode, replaces: old)
        state.changes.updated.append(.init(index: sender, old: old, new: path.leafNode))
        return try state.tree.decrypt(
            path, from: sender, own: &own, context: try self.provisionalContext(&state), excluding: state.addedLeaves)
    }
}
