import TLSCodec

/// Key schedule and context of the next epoch, equal for committer and receiver (RFC 9420 §8, §8.2, §12.4).
struct NextEpoch {
    let context: GroupContext
    let contextBytes: [UInt8]
    let schedule: KeySchedule
    let confirmationTag: [UInt8]

    /// - Parameter commit: signed; its confirmation tag, if any, is ignored.
    init(
        _ group: MLSGroup, commit: AuthenticatedContent, treeHash: [UInt8], extensions: [Extension],
        commitSecret: Secret,
        preSharedKeys: [PreSharedKey]
    ) throws(MLSError) {
        let suite = group.cipherSuite
        self.context = GroupContext(
            cipherSuite: suite, groupID: group.groupID, epoch: try group.nextEpoch, treeHash: treeHash,
            confirmedTranscriptHash: suite.confirmedTranscriptHash(
                interim: group.interimTranscriptHash, commit: commit),
            extensions: extensions)
        self.contextBytes = self.context.tlsEncoded()
        self.schedule = KeySchedule(
            suite, initSecret: group.secrets.initSecret, commitSecret: commitSecret,
            pskSecret: try suite.pskSecret(preSharedKeys), context: self.contextBytes)
        self.confirmationTag = suite.hash.hmac(
            key: self.schedule.secrets.confirmation, self.context.confirmedTranscriptHash)
    }
}

extension MLSGroup {
    /// Number of the next epoch. Throws at the last epoch, which an inviter may have chosen for the group.
    var nextEpoch: Epoch {
        get throws(MLSError) {
            guard let next = self.epoch.next else {
                throw MLSError(.invalidCommit, "the group is at its last epoch, \(self.epoch)")
            }
            return next
        }
    }

    /// Returns this group one epoch later, with the current message secrets moved to the past epochs.
    func advanced(
        to epoch: NextEpoch, _ state: ProvisionalState, own: PrivateTree, signatureKey: SignaturePrivateKey
    ) -> MLSGroup {
        var next = MLSGroup(
            context: epoch.context, tree: state.tree, own: own, signatureKey: signatureKey,
            secrets: epoch.schedule.secrets, confirmationTag: epoch.confirmationTag, configuration: self.configuration)
        next.own.dropStaleKeys(next.tree)
        next.isReinitialized = state.changes.proposals.contains { $0.proposal.isReInit }
        var ended = self.messages
        ended.replacedLeaves = state.replacedLeaves
        let kept = self.configuration.maximumPastEpochs
        next.past = Array(([ended] + self.past).prefix(kept))
        next.pastResumptionSecrets = Array(
            ([(self.epoch, self.secrets.resumption)] + self.pastResumptionSecrets).prefix(kept))
        next.note(self.changedRecords)
        next.note([.epoch(self.epoch)])
        for dropped in ([ended] + self.past).dropFirst(kept) { next.note(dropped.records) }
        return next
    }

    /// Returns the PSKs named by a commit's proposals, in that order (RFC 9420 §8.4).
    func resolve(_ proposals: [QueuedProposal], _ known: [PreSharedKey]) throws(MLSError) -> [PreSharedKey] {
        var keys: [PreSharedKey] = []
        for case .preSharedKey(let id) in proposals.map(\.proposal) {
            keys.append(PreSharedKey(id: id, secret: try self.secret(of: id, known)))
        }
        return keys
    }

    // V12.4.2-4: Every PSK is available.
    private func secret(of id: PreSharedKeyID, _ known: [PreSharedKey]) throws(MLSError) -> Secret {
        switch id.key {
        case .external:
            if let key = known.first(where: { $0.id.key == id.key }) { return key.secret }
        case .resumption(_, let groupID, let epoch):
            // V8.6-1: The PSK is that of the epoch that it names.
            guard groupID == self.groupID else { break }
            if epoch == self.epoch { return self.secrets.resumption }
            if let past = self.pastResumptionSecrets.first(where: { $0.epoch == epoch }) { return past.secret }
        }
        throw MLSError(.unknownPSK, "a commit names a PSK that this member does not have (RFC 9420 §8.4)")
    }
}
