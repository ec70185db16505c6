/// The group's public state after a list of proposals, before the committer's path.
struct ProvisionalState {
    var tree: RatchetTree
    var extensions: [Extension]
    var changes: CommitChanges
    /// The key packages behind `changes.added`, in the same order.
    var addedPackages: [KeyPackage] = []

    var addedLeaves: Set<LeafIndex> { Set(self.changes.added.map(\.index)) }

    /// Old leaves at the positions that the commit changes, for verifying late messages.
    var replacedLeaves: [LeafIndex: LeafNode?] {
        var replaced: [LeafIndex: LeafNode?] = [:]
        for member in self.changes.added { replaced[member.index] = .some(nil) }
        for update in self.changes.updated { replaced[update.index] = .some(update.old) }
        for member in self.changes.removed { replaced[member.index] = .some(member.leaf) }
        return replaced
    }

    /// The public state that the commit leads to; call it after the path was applied.
    var outcome: CommitOutcome { CommitOutcome(extensions: self.extensions, tree: self.tree) }
}

/// Application of proposals (RFC 9420 §12.3): extensions and components, updates, removals, then additions.
extension ProposalList {
    func apply(to group: MLSGroup, hasPath: Bool, now: UInt64?) throws(MLSError) -> ProvisionalState {
        guard let committerLeaf = group.tree.leaf(self.committer) else {
            throw MLSError(.invalidSender, "the committer's leaf \(self.committer) is blank")
        }
        var state = ProvisionalState(
            tree: group.tree, extensions: group.extensions,
            changes: CommitChanges(
                committer: self.committer, committerLeaf: committerLeaf,
                proposals: self.proposals.map {
                    .init(sender: $0.sender, proposal: $0.proposal, reference: $0.reference)
                }, added: [], removed: [], updated: [], hasPath: hasPath))
        // V12.3-1: Extensions apply first, then updates, removals and additions.
        for case .groupContextExtensions(let extensions) in self.proposals.map(\.proposal) {
            state.extensions = extensions
            state.changes.extensions = extensions
        }
        try self.applyAppDataUpdates(to: &state)
        let required = try GroupRequirements(state.extensions, group.configuration.rules)
        try self.applyUpdates(to: &state, group, required)
        self.applyRemovals(to: &state, group)
        // V11.1-1: New extensions require only what every member supports.
        // V12.1.7-1: All members support the required capabilities.
        if state.changes.extensions != nil {
            for (_, leaf) in state.tree.members {
                try leaf.validate(required)
            }
        }
        try self.applyAdditions(to: &state, group, required, now: now)
        let newLeaves = state.changes.updated.map(\.new) + state.changes.added.map(\.leaf)
        // V12.2-10: The tree after the Commit is valid.
        if !newLeaves.isEmpty {
            try state.tree.requireUniqueKeys(of: newLeaves)
            try state.tree.validateCredentialSupport()
        }
        return state
    }

    /// Changes the data of components in the dictionary of the GroupContext, which becomes the last extension.
    private func applyAppDataUpdates(to state: inout ProvisionalState) throws(MLSError) {
        var updates: [AppDataUpdate] = []
        for case .appDataUpdate(let update) in self.proposals.map(\.proposal) { updates.append(update) }
        guard !updates.isEmpty else { return }
        let replacesExtensions = state.changes.extensions != nil
        var values = try AppDataDictionary(in: state.extensions)?.values ?? [:]
        for update in updates {
            switch update.operation {
            case .update(let data): values[update.component] = data
            case .remove:
                // X4.7-5: Data that is removed together with new GroupContext extensions is present.
                // Without them peers accept the removal of absent data, against the draft, and it changes nothing.
                guard values.removeValue(forKey: update.component) != nil || !replacesExtensions else {
                    throw MLSError(
                        .invalidProposals,
                        "component \(update.component) is removed but has no data (MLS extensions draft §4.7)")
                }
            }
        }
        // X4.7-6: The changed dictionary is the last extension of the GroupContext.
        state.extensions.removeAll { $0.type == .appDataDictionary }
        let size = values.values.reduce(state.extensions.reduce(0) { $0 + $1.data.count }) { $0 + $1.count + 6 }
        guard size <= Self.maximumExtensionBytes else {
            throw MLSError(
                .invalidProposals,
                "the extensions would have \(size) bytes, at most \(Self.maximumExtensionBytes) are allowed")
        }
        state.extensions.append(AppDataDictionary(values).asExtension)
        state.changes.extensions = state.extensions
    }

    /// Limit for AppDataUpdates, which can enlarge the GroupContext commit by commit; the GroupContext must fit into a
    /// vector (RFC 9420 §2.1.2).
    private static let maximumExtensionBytes = 1 << 28

    private func applyUpdates(
        to state: inout ProvisionalState, _ group: MLSGroup, _ required: GroupRequirements
    ) throws(MLSError) {
        for queued in self.proposals {
            guard case .update(let leaf) = queued.proposal, let old = group.tree.leaf(queued.sender) else { continue }
            // V7.3-8: The leaf of an Update is of source update.
            guard case .update = leaf.source else {
                throw MLSError(.invalidLeafNode, "the leaf_node_source of an Update must be update (RFC 9420 §7.3)")
            }
            // V12.1.2-1: The leaf of an Update is valid.
            try state.tree.validate(
                replacement: leaf, of: old, at: queued.sender, group.groupID, required)
            state.tree.update(leaf, at: queued.sender)
            state.changes.updated.append(.init(index: queued.sender, old: old, new: leaf))
        }
    }

    private func applyRemovals(to state: inout ProvisionalState, _ group: MLSGroup) {
        for queued in self.proposals {
            guard let index = self.leafRemoved(by: queued), let leaf = group.tree.leaf(index) else { continue }
            state.tree.remove(index)
            state.changes.removed.append(.init(index: index, leaf: leaf))
        }
        if !state.changes.removed.isEmpty { state.tree.truncate() }
    }

    private func applyAdditions(
        to state: inout ProvisionalState, _ group: MLSGroup, _ required: GroupRequirements, now: UInt64?
    ) throws(MLSError) {
        var packages: [KeyPackage] = []
        for queued in self.proposals {
            guard case .add(let package) = queued.proposal else { continue }
            // V10.1-1: The cipher suite is the group's.
            guard package.cipherSuite == group.cipherSuite else {
                throw MLSError(
                    .invalidKeyPackage, "a key package is for suite \(package.cipherSuite), not \(group.cipherSuite)")
            }
            // V12.1.1-1: The key package of an Add is valid.
            if !queued.isVerified { _ = try package.verified(now: now) }
            try package.leafNode.validate(required)
            // X4.6-2: The dictionary of an added key package decodes.
            if required.components != nil { _ = try AppDataDictionary(in: package.extensions) }
            packages.append(package)
        }
        var searchStart = 0
        for package in packages {
            let index = state.tree.add(package.leafNode, searchingFrom: searchStart)
            searchStart = Int(index.rawValue) + 1
            state.changes.added.append(.init(index: index, leaf: package.leafNode))
        }
        state.addedPackages = packages
    }
}

extension RatchetTree {
    /// Checks a leaf that replaces a member's current one, from an Update or a path (RFC 9420 §7.3).
    func validate(
        replacement leaf: LeafNode, of old: LeafNode, at index: LeafIndex, _ groupID: GroupID,
        _ required: GroupRequirements
    ) throws(MLSError) {
        // V7.3-8: The new leaf has a new encryption key.
        // V12.4.2-6: The leaf of a path has a new encryption_key.
        guard leaf.encryptionKey != old.encryptionKey else {
            throw MLSError(.invalidLeafNode, "the new leaf of \(index) keeps its encryption_key (RFC 9420 §7.3)")
        }
        try leaf.validateAlone(self.cipherSuite)
        try leaf.validate(required)
        guard leaf.hasValidSignature(self.cipherSuite, position: .init(groupID: groupID, leafIndex: index)) else {
            throw MLSError(.badSignature, "the signature of the new leaf of \(index) does not verify (RFC 9420 §7.3)")
        }
    }

    /// Throws if a key of a leaf that the commit brings in occurs twice in the tree (RFC 9420 §7.3, §12.2).
    func requireUniqueKeys(of leaves: [LeafNode]) throws(MLSError) {
        var encryptionKeys = KeyFilter(leaves.map(\.encryptionKey))
        var signatureKeys = KeyFilter(leaves.map(\.signatureKey))
        // V7.3-11: The encryption_key is unique among the members.
        for (position, ending) in self.keyEndings.encryption.enumerated()
        where encryptionKeys.mayContain(ending: ending) {
            if let key = self.nodes[position].encryptionKey, encryptionKeys.meetsAgain(key) {
                throw MLSError(
                    .invalidProposals, "a new leaf's encryption_key appears twice in the tree (RFC 9420 §7.3)")
            }
        }
        // V7.3-10: The signature_key is unique among the members.
        // V12.2-4: No client is added twice, or again.
        for (position, ending) in self.keyEndings.signature.enumerated() where signatureKeys.mayContain(ending: ending)
        {
            if let key = self.nodes[position].signatureKey, signatureKeys.meetsAgain(key) {
                throw MLSError(
                    .invalidProposals, "a new leaf's signature_key appears twice in the tree (RFC 9420 §7.3)")
            }
        }
    }
}
