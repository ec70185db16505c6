public import MLS
public import Nostr

/// Precedence of two commits for the same epoch: the earlier one wins, on a tie the one with the smaller id
/// (docs/protocol/marmot.md §5.7).
public struct CommitOrder: Hashable, Comparable, Sendable {
    /// Time of the commit's event.
    public let createdAt: UnixTime
    /// Id of the commit's event.
    public let id: EventID

    /// Reads the precedence of a commit from its kind 445 event.
    public init(_ event: Event) {
        self.createdAt = event.createdAt
        self.id = event.id
    }

    init(createdAt: UnixTime, id: EventID) {
        self.createdAt = createdAt
        self.id = id
    }

    /// Returns whether `left` wins over `right`.
    public static func < (left: CommitOrder, right: CommitOrder) -> Bool {
        (left.createdAt, left.id) < (right.createdAt, right.id)
    }
}

/// Undo information for one applied commit: identifies the commit and restores the group as it was before it.
struct RaceSnapshot: Sendable {
    /// The epoch that the commit ended.
    let epoch: Epoch
    /// The earliest event that carried the commit.
    var order: CommitOrder
    let isOwn: Bool
    /// SHA-256 of the commit's MLSMessage.
    let digest: [UInt8]
    /// Epoch authenticator of the epoch after the commit; nil if the commit removed this member.
    let outcome: Secret?
    let outerKeys: [Epoch: Secret]
    /// Changes that turn the MLS group after the commit into the one before it.
    var undo: GroupStorageChanges
}

/// Race resolution for commits of past epochs (docs/protocol/marmot.md §5.7).
extension MarmotGroup {
    /// Records how to return to the current state before `order`'s commit is applied.
    ///
    /// - Parameter next: the MLS group after the commit; nil if the MLS group stays as it is.
    mutating func takeSnapshot(_ order: CommitOrder, digest: [UInt8], next: MLSGroup?, isOwn: Bool) {
        self.snapshots.append(
            RaceSnapshot(
                epoch: self.epoch, order: order, isOwn: isOwn, digest: digest, outcome: next?.epochAuthenticator,
                outerKeys: self.outerKeys,
                undo: next.map(self.mls.undo(of:)) ?? GroupStorageChanges(replacesAll: false, records: [:])))
        self.changedParts.insert(.snapshot(epoch: self.epoch))
        self.sendingClock.follow(order.createdAt)
        guard self.snapshots.count > self.profile.pastEpochs else { return }
        self.changedParts.insert(.snapshot(epoch: self.snapshots.removeFirst().epoch))
    }

    /// First epoch whose starting commit can still be replaced by a better one; the current epoch if no commit can be.
    public var firstUndecidedEpoch: Epoch { self.snapshots.first.map { $0.epoch.later(by: 1) } ?? self.epoch }

    /// Returns whether `key` was an admin in the current epoch or one of the few before it; false for older epochs.
    public func wasAdmin(_ key: PublicKey, inEpoch epoch: Epoch) -> Bool {
        self.data(inEpoch: epoch)?.isAdmin(key) ?? false
    }

    /// Returns the group data of the current epoch or one of the few before it; nil once they are no longer known.
    public func data(inEpoch epoch: Epoch) -> GroupData? {
        if epoch == self.epoch { return self.data }
        guard let position = self.snapshots.firstIndex(where: { $0.epoch == epoch }) else { return nil }
        return try? Self.data(self.mls(at: position).extensions, self.profile)
    }

    /// Returns the MLS group as it was at a snapshot.
    private func mls(at position: Int) throws(MarmotError) -> MLSGroup {
        do { return try self.mls.reverting(self.snapshots[position...].reversed().map(\.undo)) } catch {
            throw MarmotError(.mls, "cannot restore a snapshot: \(error)")
        }
    }

    /// Handles a handshake message of a past epoch, which may be a commit that beats the one applied then.
    mutating func resolveRace(_ message: MLSMessage, _ digest: [UInt8], _ event: Event) throws(MarmotError)
        -> Disposition
    {
        let order = CommitOrder(event)
        guard let (epoch, isCommit) = message.handshake,
            let position = self.snapshots.firstIndex(where: { $0.epoch == epoch })
        else { return .refused(Refusal(.pastEpoch, "a message of a past epoch")) }
        guard isCommit else { return try self.storeLateProposal(message, event, position) }
        let snapshot = self.snapshots[position]
        guard order.id != snapshot.order.id else {
            return snapshot.isOwn ? .ownEcho : .refused(Refusal(.duplicate, "this commit was already applied"))
        }
        guard order < snapshot.order else {
            self.recordLosingCommit(message, digest, event, position)
            return .refused(Refusal(.lostRace, "an earlier commit for epoch \(epoch) was applied (MIP-03)"))
        }
        // Anyone can rewrap a ciphertext with an earlier time; rolling back later epochs for that would gain nothing.
        guard digest != snapshot.digest else { return self.lower(position, to: order) }
        // Try the whole branch on a copy: an invalid candidate must not cost the current branch.
        var restored = self
        try restored.restore(position)
        let received: Received
        do { received = try restored.mls.process(message, now: event.commitTime) } catch let error as MLSError {
            return Disposition(refusedBy: error)
        } catch { throw MarmotError(.mls, "\(error)") }
        guard case .commit(let staged) = received else {
            return .refused(Refusal(.pastEpoch, "a message of a past epoch"))
        }
        guard staged.next?.epochAuthenticator != snapshot.outcome else { return self.lower(position, to: order) }
        guard case .commit(let report) = try restored.apply(staged, digest, order) else {
            return .refused(Refusal(.lostRace, "the commit for epoch \(epoch) was not applied"))
        }
        let (rolledBackFrom, hadPending) = (self.epoch, self.pending != nil)
        self.abandonBranch(for: restored)
        return .commit(report.rollingBack(from: rolledBackFrom, displacingOwnCommit: hadPending))
    }

    /// Keeps the branch of a losing commit: other members may have followed it beyond the reach of a rollback.
    private mutating func recordLosingCommit(_ message: MLSMessage, _ digest: [UInt8], _ event: Event, _ position: Int)
    {
        var branch = self
        guard (try? branch.restore(position)) != nil,
            case .commit(let staged)? = try? branch.mls.process(message, now: event.commitTime),
            case .commit? = try? branch.apply(staged, digest, CommitOrder(event)), branch.isActive
        else { return }
        self.abandoned = [branch.bare]
    }

    /// Replaces this value by `other` and keeps the old branch aside.
    mutating func abandonBranch(for other: MarmotGroup) {
        let old = self.bare
        self = other
        self.abandoned = [old]
    }

    /// The group without its race-resolution state.
    private var bare: MarmotGroup {
        var bare = self
        bare.abandoned = []
        bare.snapshots = []
        bare.shelved = []
        bare.pending = nil
        bare.changedParts = []
        return bare
    }

    /// Removes and returns the branch kept aside: the last abandoned one, or that of a losing commit.
    public mutating func popAbandoned() -> MarmotGroup? { self.abandoned.popLast() }

    /// Records that the applied commit arrived again in an event that takes precedence over the recorded one.
    private mutating func lower(_ position: Int, to order: CommitOrder) -> Disposition {
        self.snapshots[position].order = order
        self.changedParts.insert(.snapshot(epoch: self.snapshots[position].epoch))
        return .refused(Refusal(.duplicate, "this commit was already applied, from another event"))
    }

    /// Stores a proposal that arrives after a commit ended its epoch, because a better commit may still refer to it.
    private mutating func storeLateProposal(
        _ message: MLSMessage, _ event: Event, _ position: Int
    ) throws(MarmotError) -> Disposition {
        do {
            var mls = try self.mls(at: position)
            let data = try Self.data(mls.extensions, self.profile)
            guard case .proposal(let received) = try mls.process(message, now: event.commitTime) else {
                return .refused(Refusal(.pastEpoch, "a message of a past epoch"))
            }
            let report = try Self.classify(received, in: &mls, data, for: self.account)
            self.snapshots[position].undo.records[.core] = .some(mls.record(.core))
            self.changedParts.insert(.snapshot(epoch: self.snapshots[position].epoch))
            return .proposal(ProposalReport(sender: report.sender, effect: .ignored, change: report.change))
        } catch let error as MLSError {
            return Disposition(refusedBy: error)
        } catch let error as MarmotError {
            throw error
        } catch { throw MarmotError(.mls, "\(error)") }
    }

    /// Returns to the group of a snapshot and drops that snapshot and all later ones.
    mutating func restore(_ position: Int) throws(MarmotError) {
        let mls = try self.mls(at: position)
        let data = try Self.data(mls.extensions, self.profile)
        for snapshot in self.snapshots[position...] { self.changedParts.insert(.snapshot(epoch: snapshot.epoch)) }
        self.outerKeys = self.snapshots[position].outerKeys
        self.snapshots.removeSubrange(position...)
        self.mls = mls
        self.data = data
        self.formerNostrGroupIDs.removeAll { $0 == data.nostrGroupID }
        self.setPending(nil)
        self.isActive = true
        self.headerChanged = true
    }
}

extension MLSMessage {
    /// Epoch of a framed proposal or commit, and whether it is a commit; nil for anything else.
    var handshake: (epoch: Epoch, isCommit: Bool)? {
        switch self {
        case .privateMessage(let message):
            message.contentType == .application ? nil : (message.epoch, message.contentType == .commit)
        case .publicMessage(let message):
            (message.authenticated.content.epoch, message.authenticated.content.contentType == .commit)
        case .welcome, .groupInfo, .keyPackage: nil
        }
    }
}

extension CommitReport {
    fileprivate func rollingBack(from epoch: Epoch, displacingOwnCommit: Bool) -> CommitReport {
        CommitReport(
            committer: self.committer, isOwn: self.isOwn, epochBefore: self.epochBefore, epochAfter: self.epochAfter,
            added: self.added, removed: self.removed, left: self.left, before: self.before, after: self.after,
            removedSelf: self.removedSelf, event: self.event, createdAt: self.createdAt, rolledBackFrom: epoch,
            displacedOwnCommit: displacingOwnCommit)
    }
}
