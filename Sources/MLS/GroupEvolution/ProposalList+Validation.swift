/// List of a commit's proposals, validated (RFC 9420 §12.2) before it is applied.
struct ProposalList {
    let committer: LeafIndex
    let proposals: [QueuedProposal]
    private let tolerances: GroupRules.Tolerances

    /// Creates a list; with the tolerance for it, drops repetitions of a Remove or GroupContextExtensions inside the
    /// commit.
    init(committer: LeafIndex, proposals: [QueuedProposal], tolerances: GroupRules.Tolerances = []) {
        self.committer = committer
        self.tolerances = tolerances
        var seen: Set<Proposal> = []
        self.proposals =
            tolerances.contains(.repeatedProposals)
            ? proposals.filter { !$0.countsOnce || seen.insert($0.proposal).inserted } : proposals
    }

    private func refuse(_ message: String) -> MLSError {
        MLSError(.invalidProposals, message + " (RFC 9420 §12.2)")
    }

    /// Validates the list against the members before the commit.
    func validate(_ group: MLSGroup) throws(MLSError) {
        var touched: Set<LeafIndex> = []
        var contextChanges = 0
        var preSharedKeys: Set<PreSharedKeyID> = []
        var components: Set<ComponentID> = []
        for queued in self.proposals {
            try group.configuration.rules.requireAdmitted(queued.proposal)
            switch queued.proposal {
            case .add, .appEphemeral: break
            case .update:
                // V12.2-1: No Update by the committer.
                guard queued.sender != self.committer else {
                    throw self.refuse("the committer proposes its own update")
                }
                // V12.2-3: At most one Update or Remove for a leaf.
                guard touched.insert(queued.sender).inserted else {
                    throw self.refuse("leaf \(queued.sender) is updated or removed twice")
                }
            // V12.2-2: No Remove of the committer.
            case .remove(let index):
                guard index != self.committer else { throw self.refuse("the committer removes itself") }
                try self.requireRemoval(of: index, &touched, group)
            case .selfRemove where self.isWithoutEffect(queued): break
            // X6.3-1: A SelfRemove is committed by reference, and not by the leaver.
            case .selfRemove:
                guard queued.sender != self.committer else {
                    throw self.refuse("the committer commits its own SelfRemove")
                }
                try self.requireRemoval(of: queued.sender, &touched, group)
            // V12.2-5: A PreSharedKeyID occurs once.
            case .preSharedKey(let id):
                guard preSharedKeys.insert(id).inserted else { throw self.refuse("a PSK appears twice") }
                try self.validate(id, group.cipherSuite)
            case .reInit(let reInit): try self.validate(reInit)
            // V12.2-8: No ExternalInit in a member's Commit.
            case .externalInit: throw self.refuse("a member sends ExternalInit")
            case .groupContextExtensions(let extensions):
                // V12.2-6: At most one GroupContextExtensions proposal.
                contextChanges += 1
                guard contextChanges == 1 else { throw self.refuse("two GroupContextExtensions proposals") }
                guard !extensions.hasDuplicates else {
                    throw self.refuse("a GroupContext extension type appears twice")
                }
                // X4.7-2: A GroupContextExtensions proposal stands before all AppDataUpdates.
                guard components.isEmpty else {
                    throw self.refuse("a GroupContextExtensions proposal follows an AppDataUpdate")
                }
                try self.requireSameDictionary(extensions, group)
            case .appDataUpdate(let update):
                // X4.7-3: At most one AppDataUpdate for a component.
                guard components.insert(update.component).inserted else {
                    throw self.refuse("component \(update.component) is changed twice")
                }
            }
        }
        try self.requireSupportedTypes(group)
    }

    /// Throws unless every member that processes the commit supports its non-default proposal types.
    private func requireSupportedTypes(_ group: MLSGroup) throws(MLSError) {
        let types = Set(self.proposals.lazy.map(\.proposal).filter { !$0.isDefault }.map(\.type))
        guard !types.isEmpty else { return }
        let removed = self.removed
        for (index, leaf) in group.members where !removed.contains(index) {
            // V12.2-9: Members support the proposal types of the Commit.
            guard types.isSubset(of: leaf.capabilities.proposals) else {
                throw self.refuse("leaf \(index) does not support a proposal type of the commit")
            }
        }
    }

    /// The leaves that this list removes.
    private var removed: Set<LeafIndex> { Set(self.proposals.compactMap(self.leafRemoved(by:))) }

    /// Returns the leaf that a proposal of this list removes; nil if it removes none.
    func leafRemoved(by queued: QueuedProposal) -> LeafIndex? {
        switch queued.proposal {
        case .remove(let index): index
        case .selfRemove: self.isWithoutEffect(queued) ? nil : queued.sender
        default: nil
        }
    }

    /// Whether a proposal is the committer's own SelfRemove inside the commit, and tolerated.
    private func isWithoutEffect(_ queued: QueuedProposal) -> Bool {
        queued.proposal == .selfRemove && queued.isInline && self.tolerances.contains(.inlineSelfRemoves)
    }

    /// Throws if a GroupContextExtensions proposal changes the dictionary of a group that requires AppDataUpdate, before
    /// or after the commit.
    private func requireSameDictionary(_ extensions: [Extension], _ group: MLSGroup) throws(MLSError) {
        guard extensions.data(of: .appDataDictionary) != group.extensions.data(of: .appDataDictionary) else { return }
        for list in [group.extensions, extensions] {
            // X4.7-4: Where AppDataUpdate is required, only AppDataUpdate changes the dictionary.
            guard try RequiredCapabilities(in: list)?.proposals.contains(Proposal.appDataUpdateType) != true else {
                throw self.refuse(
                    "a GroupContextExtensions proposal changes app_data_dictionary, which the group changes by AppDataUpdate"
                )
            }
        }
    }

    // V12.1.3-1: A removed leaf is not blank.
    // V12.2-3: At most one Update or Remove for a leaf.
    private func requireRemoval(
        of index: LeafIndex, _ touched: inout Set<LeafIndex>, _ group: MLSGroup
    ) throws(MLSError) {
        guard group.tree.leaf(index) != nil else { throw self.refuse("leaf \(index) is removed but is not a member") }
        guard touched.insert(index).inserted else { throw self.refuse("leaf \(index) is updated or removed twice") }
    }

    private func validate(_ reInit: ReInit) throws(MLSError) {
        // V12.2-7: A ReInit is the only proposal.
        guard self.proposals.count == 1 else { throw self.refuse("ReInit is not the only proposal") }
        // V12.1.5-1: A ReInit does not lower the version.
        guard reInit.version >= ProtocolVersion.mls10 else { throw self.refuse("ReInit lowers the version") }
        guard !reInit.extensions.hasDuplicates else { throw self.refuse("a ReInit extension type appears twice") }
    }

    private func validate(_ id: PreSharedKeyID, _ suite: CipherSuite) throws(MLSError) {
        // V8.4-3: The psk_nonce has KDF.Nh bytes.
        // V12.1.4-1: The nonce has KDF.Nh bytes, and the usage is application.
        guard id.nonce.count == suite.hashLength else {
            throw self.refuse("a PSK nonce has \(id.nonce.count) bytes, not \(suite.hashLength)")
        }
        // V11.2-1: PSKs of usage reinit and branch are refused.
        if case .resumption(let usage, _, _) = id.key, usage != .application {
            throw self.refuse("a commit must not contain a PSK of usage \(usage)")
        }
    }

    /// Whether a commit of this list needs a path (RFC 9420 §12.4).
    var requiresPath: Bool { self.proposals.isEmpty || self.proposals.contains { $0.proposal.requiresPath } }

    /// Whether this list changes components' data and nothing else, which needs no fresh keys.
    var holdsOnlyAppDataUpdates: Bool {
        !self.proposals.isEmpty && self.proposals.allSatisfy(\.proposal.isAppDataUpdate)
    }
}
