public import MLS
public import Nostr

/// Processing of received group events: each event yields one disposition (MIP-03, docs/protocol/marmot.md §5.8).
extension MarmotGroup {
    /// Processes a kind 445 event whose id and signature are verified.
    ///
    /// The members' state changes only when the disposition is a message, a commit or a proposal. A message that MLS
    /// authenticates consumes its key even if its inner event is then refused: its sender is known, and the same
    /// ciphertext must not decrypt twice (RFC 9420 §9.2).
    public mutating func ingest(_ event: Event, now: UnixTime) -> Disposition {
        do {
            let id = try GroupEvents.nostrGroupID(of: event)
            guard id == self.data.nostrGroupID || self.formerNostrGroupIDs.contains(id) else {
                throw MarmotError(.badTag, "the h tag names another group (MIP-03)")
            }
            try GroupEvents.checkAge(event, profile: self.profile, now: now)
            if let pending = self.pending, pending.event.id == event.id { return .ownCommit }
            if let shelved = self.shelved(where: { $0.event.id == event.id }) { return try self.reinstate(shelved) }
            guard let bytes = try self.openOuter(event) else {
                guard self.isActive else { throw Self.removed }
                return .waiting(.noKey)
            }
            guard GroupEvents.dueTime(of: event, profile: self.profile) <= now else { return .waiting(.futureTime) }
            let message: MLSMessage
            do { message = try MLSMessage(bytes) } catch { throw MarmotError(.mls, "\(error)") }
            let digest = SHA256Derivation.digest(bytes)
            // Anyone can rewrap a commit of this account, and other members order it by the wrapper's time.
            if self.pending?.digest == digest { return .waiting(.ownCommitPending) }
            if let shelved = self.shelved(where: { $0.digest == digest }) {
                return try self.reinstate(shelved, in: event)
            }
            guard self.isActive else { return try self.applyAfterRemoval(message, digest, event) }
            return try self.apply(message, digest, event)
        } catch let error as MarmotError {
            return .refused(Refusal(error))
        } catch {
            return .refused(Refusal(.unexpected, "\(error)"))
        }
    }

    /// Returns the epoch, sender and generation of an event's message without processing it; nil if the event holds no
    /// message or cannot be decrypted.
    public func place(of event: Event) -> MessagePlace? {
        guard let bytes = try? self.openOuter(event), let message = try? MLSMessage(bytes) else { return nil }
        return self.mls.place(of: message)
    }

    /// Returns whether one of the group's outer keys decrypts an event.
    public func opens(_ event: Event) -> Bool { ((try? self.openOuter(event)) ?? nil) != nil }

    private static var removed: MarmotError {
        MarmotError(.inactive, "this account is no longer in the group")
    }

    private mutating func applyAfterRemoval(
        _ message: MLSMessage, _ digest: [UInt8], _ event: Event
    ) throws -> Disposition {
        // Earlier messages may arrive after the removal, and a better commit may undo it.
        guard let handshake = message.handshake else { return try self.apply(message, digest, event) }
        guard handshake.isCommit else { throw Self.removed }
        return try self.resolveRace(message, digest, event)
    }

    /// Tries the outer keys from the current epoch backwards; nil if none decrypts it.
    private func openOuter(_ event: Event) throws(MarmotError) -> [UInt8]? {
        let (nonce, ciphertext) = try GroupEvents.ciphertext(event)
        for epoch in self.outerKeys.keys.sorted(by: >) {
            guard let key = self.outerKeys[epoch] else { continue }
            if let bytes = try? ChaCha20Poly1305.open(ciphertext, key: key, nonce: nonce) { return bytes }
        }
        return nil
    }

    private mutating func apply(_ message: MLSMessage, _ digest: [UInt8], _ event: Event) throws -> Disposition {
        do {
            switch try self.mls.process(message, now: event.commitTime) {
            case .application(let application):
                let sender = try self.identity(of: application.senderLeaf)
                let rumor = try ApplicationMessages.read(application.data, from: sender)
                return .message(
                    ReceivedMessage(
                        rumor: rumor, id: rumor.id, epoch: application.epoch, leaf: application.sender,
                        wrapper: event.id))
            case .proposal(let proposal):
                self.sendingClock.follow(event.createdAt)
                return .proposal(try Self.classify(proposal, in: &self.mls, self.data, for: self.account))
            case .commit(let staged): return try self.apply(staged, digest, CommitOrder(event))
            }
        } catch let error as MLSError {
            if error.code == .ownMessage, message.handshake?.isCommit == true, self.mls.isSignedByOwnLeaf(message) {
                return .waiting(.otherCopy)
            }
            if error.code == .ownMessage, let epoch = self.mls.consumeOwnKey(of: message) {
                return .otherCopy(epoch: epoch)
            }
            guard error.code == .pastEpoch else { return Disposition(refusedBy: error) }
            return try self.resolveRace(message, digest, event)
        }
    }

    /// Applies a commit of another member if its author is authorized to make it.
    mutating func apply(
        _ staged: StagedCommit, _ digest: [UInt8], _ order: CommitOrder
    ) throws(MarmotError) -> Disposition {
        let data = try staged.next.map { next throws(MarmotError) in try Self.data(next.extensions, self.profile) }
        try self.authorize(staged, data)
        var displaced = false
        if let pending = self.pending {
            // A relay may already have the pending commit; its answer decides (docs/protocol/marmot.md §5.7).
            guard order < CommitOrder(pending.event) else { return .waiting(.ownCommitPending) }
            displaced = true
        }
        let report = try self.report(
            committer: staged.changes.committerLeaf.identity(), next: staged.next, data: data ?? self.data,
            order: order, isOwn: false, removed: staged.changes.removed.compactMap { try? $0.leaf.identity() },
            displacedOwnCommit: displaced)
        self.clearPending()
        self.takeSnapshot(order, digest: digest, next: staged.next, isOwn: false)
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

    /// Maximum number of waiting proposals of one member in an epoch; more are dropped, which bounds the store.
    static let maximumProposals = 16

    /// Determines the effect of a proposal (docs/protocol/marmot.md §5.5). Proposals that this member will never commit
    /// are kept too, because another member's commit may refer to them.
    static func classify(
        _ received: ReceivedProposal, in mls: inout MLSGroup, _ data: GroupData, for account: PublicKey
    ) throws(MarmotError) -> ProposalReport {
        guard let leaf = mls.member(received.sender) else {
            throw MarmotError(.notFound, "the proposer is not a member")
        }
        let sender = try leaf.identity()
        // Members of the first generation may leave by a proposal to remove themselves.
        let change = received.isDeparture ? .departure : ProposedChange(received.proposal, in: mls)
        let waiting = mls.pendingProposals.filter { $0.sender == received.sender }
        guard waiting.count <= Self.maximumProposals else {
            mls.dropPendingProposals { $0.reference == received.reference }
            return ProposalReport(sender: sender, effect: .ignored, change: change)
        }
        let effect: ProposalReport.Effect
        switch received.proposal {
        case _ where Self.isDue(received, in: mls, data, for: account): effect = .commitDue
        case .add, .remove: effect = .pending
        default: effect = .ignored
        }
        return ProposalReport(sender: sender, effect: effect, change: change)
    }
}

extension Disposition {
    /// Maps an MLS refusal to a disposition: waiting, this account's message, or refused.
    init(refusedBy error: MLSError) {
        switch error.code {
        case .futureEpoch: self = .waiting(.futureEpoch)
        case .unknownProposal: self = .waiting(.missingProposal)
        case .ownMessage: self = .ownEcho
        default: self = .refused(Refusal(error))
        }
    }
}

extension Event {
    /// The time at which a commit's added key packages must be valid: the commit's own time, so that every member
    /// reaches the same result, even if it was offline until they expired.
    var commitTime: UInt64 { UInt64(max(0, self.createdAt.seconds)) }
}
