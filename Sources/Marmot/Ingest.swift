import MLS
public import Nostr

/// One event in, one disposition out (MIP-03, wire §5.8).
extension MarmotGroup {
    /// Takes in a kind 445 event whose id and signature hold.
    ///
    /// The group changes only when the disposition is a message, a commit or a proposal.
    /// - Parameter now: Unix seconds.
    public mutating func ingest(_ event: Event, now: Int64) -> Disposition {
        do {
            guard self.isActive else { throw MarmotError(.inactive, "this account is no longer in the group") }
            let id = try GroupEvents.nostrGroupID(of: event)
            guard id == self.data.nostrGroupID || self.formerNostrGroupIDs.contains(id) else {
                throw MarmotError(.badTag, "the h tag names another group (MIP-03)")
            }
            try GroupEvents.checkTime(event, profile: self.profile, now: now)
            if let pending = self.pending, pending.event.id == event.id { return .ownCommit }
            guard let bytes = try self.openOuter(event) else { return .waiting(.noKey) }
            let message: MLSMessage
            do { message = try MLSMessage(bytes) } catch { throw MarmotError(.mls, "\(error)") }
            return try self.take(message, event, now: now)
        } catch let error as MarmotError {
            return .refused(Refusal(error))
        } catch {
            return .refused(Refusal("unexpected", "\(error)"))
        }
    }

    /// Tries the outer keys from the current epoch backwards; nil if none fits.
    private func openOuter(_ event: Event) throws(MarmotError) -> [UInt8]? {
        let (nonce, ciphertext) = try GroupEvents.ciphertext(event)
        for epoch in self.outerKeys.keys.sorted(by: >) {
            guard let key = self.outerKeys[epoch] else { continue }
            if let bytes = try? ChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce) { return bytes }
        }
        return nil
    }

    private mutating func take(_ message: MLSMessage, _ event: Event, now: Int64) throws -> Disposition {
        do {
            switch try self.mls.process(message, now: UInt64(max(0, now))) {
            case .application(let application):
                let sender = try application.senderLeaf.identity()
                let rumor = try ApplicationMessages.read(application.data, from: sender)
                return .message(
                    ReceivedMessage(rumor: rumor, id: rumor.id, epoch: application.epoch, wrapper: event.id))
            case .proposal(let proposal): return .proposal(try self.note(proposal))
            case .commit(let staged): return try self.take(staged, CommitOrder(event))
            }
        } catch let error as MLSError {
            return try self.resolve(error, message, event, now: now)
        }
    }

    private mutating func take(_ staged: StagedCommit, _ order: CommitOrder) throws(MarmotError) -> Disposition {
        let data = try staged.next.map { next throws(MarmotError) in try Self.data(next.extensions, self.profile) }
        try self.authorize(staged, data)
        var displaced = false
        if let pending = self.pending {
            // Ours may already be with a relay and stand; what the relay says decides (wire §5.7).
            guard order < CommitOrder(pending.event) else { return .waiting(.ownCommitPending) }
            displaced = true
        }
        let report = try self.report(
            committer: staged.changes.committerLeaf.identity(), next: staged.next, data: data ?? self.data,
            order: order,
            isOwn: false, removed: staged.changes.removed.compactMap { try? $0.leaf.identity() },
            displacedOwnCommit: displaced)
        self.pending = nil
        self.takeSnapshot(order)
        if let next = staged.next, let data {
            self.advance(to: next, data: data)
        } else {
            self.isActive = false
            self.headerChanged = true
        }
        return .commit(report)
    }

    private func authorize(_ staged: StagedCommit, _ data: GroupData?) throws(MarmotError) {
        // A member who is removed cannot see the new context; the changes themselves are in the proposals.
        var after = data ?? self.data
        if data == nil, let extensions = staged.changes.extensions {
            after = try Self.data(extensions, self.profile)
        }
        let remaining =
            staged.next.map(Self.identities)
            ?? Self.identities(self.mls).subtracting(staged.changes.removed.compactMap { try? $0.leaf.identity() })
        let added = staged.next == nil ? staged.changes.added.compactMap { try? $0.leaf.identity() } : []
        try GroupAdministration.authorize(
            staged.changes, before: self.data, after: after, members: remaining.union(added))
    }

    /// Sorts what the MLS layer refused: kept for later, decided as a race, or of no use.
    private mutating func resolve(
        _ error: MLSError, _ message: MLSMessage, _ event: Event, now: Int64
    ) throws -> Disposition {
        switch error.code {
        case .futureEpoch: return .waiting(.futureEpoch)
        case .unknownProposal: return .waiting(.missingProposal)
        case .ownMessage: return .ownEcho
        case .pastEpoch: return try self.race(message, event, now: now)
        default: return .refused(Refusal(error.code.description, error.message))
        }
    }

    /// A handshake message of an epoch that is over: perhaps a commit that beats the one that was applied then.
    private mutating func race(_ message: MLSMessage, _ event: Event, now: Int64) throws -> Disposition {
        let order = CommitOrder(event)
        guard let epoch = message.handshakeEpoch,
            let position = self.snapshots.firstIndex(where: { $0.mls.epoch == epoch })
        else { return .refused(Refusal("past_epoch", "a message of an epoch that is over")) }
        let snapshot = self.snapshots[position]
        guard order.id != snapshot.order.id else { return .ownEcho }
        guard order < snapshot.order else {
            return .refused(Refusal("lost_race", "an earlier commit for epoch \(epoch) was applied (wire §5.7)"))
        }
        // The whole branch is tried on a copy: if the candidate is not in order, nothing is given up.
        var restored = self
        restored.restore(position)
        guard case .commit(let staged) = try restored.mls.process(message, now: UInt64(max(0, now))) else {
            return .refused(Refusal("past_epoch", "a proposal of an epoch that is over"))
        }
        guard case .commit(let report) = try restored.take(staged, order) else {
            return .refused(Refusal("lost_race", "the commit for epoch \(epoch) was not applied"))
        }
        let rolledBackFrom = self.epoch
        self = restored
        return .commit(report.rollingBack(from: rolledBackFrom))
    }

    private mutating func restore(_ position: Int) {
        let snapshot = self.snapshots[position]
        self.snapshots.removeSubrange(position...)
        self.mls = snapshot.mls
        self.mls.markAllChanged()
        self.data = snapshot.data
        self.outerKeys = snapshot.outerKeys
        self.pending = nil
        self.isActive = true
        self.headerChanged = true
    }

    /// Decides what a proposal is good for (wire §5.5); those that nobody will commit are dropped.
    private mutating func note(_ received: ReceivedProposal) throws(MarmotError) -> ProposalReport {
        guard let leaf = self.mls.member(received.sender) else {
            throw MarmotError(.notFound, "the proposer is no member")
        }
        let sender = try leaf.identity()
        let effect: ProposalReport.Effect
        switch received.proposal {
        case .selfRemove: effect = self.data.isAdmin(sender) ? .ignored : .commitDue
        case .add, .remove: effect = .pending
        default: effect = .ignored
        }
        if effect == .ignored { self.mls.dropPendingProposals { $0.reference == received.reference } }
        return ProposalReport(sender: sender, effect: effect)
    }
}

extension MLSMessage {
    /// The epoch of a framed proposal or commit.
    fileprivate var handshakeEpoch: UInt64? {
        switch self {
        case .privateMessage(let message): message.contentType == .application ? nil : message.epoch
        case .publicMessage(let message): message.authenticated.content.epoch
        case .welcome, .groupInfo, .keyPackage: nil
        }
    }
}

extension CommitReport {
    fileprivate func rollingBack(from epoch: UInt64) -> CommitReport {
        CommitReport(
            committer: self.committer, isOwn: self.isOwn, epochBefore: self.epochBefore, epochAfter: self.epochAfter,
            added: self.added, removed: self.removed, before: self.before, after: self.after,
            removedSelf: self.removedSelf, event: self.event, createdAt: self.createdAt, rolledBackFrom: epoch,
            displacedOwnCommit: self.displacedOwnCommit)
    }
}
