import MLS
public import Nostr

/// Which of two commits for the same epoch stands: the earlier, then the one with the smaller id (wire §5.7).
public struct CommitOrder: Hashable, Comparable, Sendable {
    public let createdAt: Int64
    public let id: EventID

    public init(_ event: Event) {
        self.createdAt = event.createdAt
        self.id = event.id
    }

    init(createdAt: Int64, id: EventID) {
        self.createdAt = createdAt
        self.id = id
    }

    /// Whether `left` wins over `right`.
    public static func < (left: CommitOrder, right: CommitOrder) -> Bool {
        (left.createdAt, left.id) < (right.createdAt, right.id)
    }
}

/// A group before a commit, and which commit it was.
struct RaceSnapshot: Sendable {
    /// The earliest event that carried the commit.
    var order: CommitOrder
    var mls: MLSGroup
    let data: GroupData
    let outerKeys: [UInt64: Secret]
    let isOwn: Bool
    /// What tells the epoch after the commit from every other; nil if the commit removed this member.
    let outcome: Secret?
}

/// Commits for an epoch that is over (wire §5.7).
extension MarmotGroup {
    /// Keeps this value as it is before `order`'s commit.
    mutating func takeSnapshot(_ order: CommitOrder, next: MLSGroup?, isOwn: Bool) {
        self.snapshots.append(
            RaceSnapshot(
                order: order, mls: self.mls, data: self.data, outerKeys: self.outerKeys, isOwn: isOwn,
                outcome: next?.epochAuthenticator))
        if self.snapshots.count > self.profile.pastEpochs { self.snapshots.removeFirst() }
    }

    /// A handshake message of an epoch that is over: perhaps a commit that beats the one that was applied then.
    mutating func race(_ message: MLSMessage, _ event: Event) throws(MarmotError) -> Disposition {
        let order = CommitOrder(event)
        guard let (epoch, isCommit) = message.handshake,
            let position = self.snapshots.firstIndex(where: { $0.mls.epoch == epoch })
        else { return .refused(Refusal("past_epoch", "a message of an epoch that is over")) }
        guard isCommit else { return try self.noteLate(message, event, position) }
        let snapshot = self.snapshots[position]
        guard order.id != snapshot.order.id else {
            return snapshot.isOwn ? .ownEcho : .refused(Refusal("duplicate", "this commit was applied before"))
        }
        guard order < snapshot.order else {
            return .refused(Refusal("lost_race", "an earlier commit for epoch \(epoch) was applied (wire §5.7)"))
        }
        // The whole branch is tried on a copy: if the candidate is not in order, nothing is given up.
        var restored = self
        restored.restore(position)
        let received: Received
        do { received = try restored.mls.process(message, now: event.commitTime) } catch let error as MLSError {
            return Disposition(refusedBy: error)
        } catch { throw MarmotError(.mls, "\(error)") }
        guard case .commit(let staged) = received else {
            return .refused(Refusal("past_epoch", "a message of an epoch that is over"))
        }
        // Anybody can wrap a ciphertext anew with an earlier time; giving up later epochs for it would gain nothing.
        guard staged.next?.epochAuthenticator != snapshot.outcome else {
            self.snapshots[position].order = order
            return .refused(Refusal("duplicate", "this commit was applied before, from another event"))
        }
        guard case .commit(let report) = try restored.take(staged, order) else {
            return .refused(Refusal("lost_race", "the commit for epoch \(epoch) was not applied"))
        }
        let (rolledBackFrom, hadPending) = (self.epoch, self.pending != nil)
        self = restored
        return .commit(report.rollingBack(from: rolledBackFrom, displacingOwnCommit: hadPending))
    }

    /// A proposal that comes after a commit has ended its epoch: a better commit may still name it.
    private mutating func noteLate(
        _ message: MLSMessage, _ event: Event, _ position: Int
    ) throws(MarmotError) -> Disposition {
        do {
            var mls = self.snapshots[position].mls
            guard case .proposal(let received) = try mls.process(message, now: event.commitTime) else {
                return .refused(Refusal("past_epoch", "a message of an epoch that is over"))
            }
            let report = try Self.note(received, in: &mls, self.snapshots[position].data)
            self.snapshots[position].mls = mls
            return .proposal(ProposalReport(sender: report.sender, effect: .ignored))
        } catch let error as MLSError {
            return Disposition(refusedBy: error)
        } catch let error as MarmotError {
            throw error
        } catch { throw MarmotError(.mls, "\(error)") }
    }

    private mutating func restore(_ position: Int) {
        let snapshot = self.snapshots[position]
        self.snapshots.removeSubrange(position...)
        self.mls = snapshot.mls
        self.mls.markAllChanged()
        self.data = snapshot.data
        self.formerNostrGroupIDs.removeAll { $0 == snapshot.data.nostrGroupID }
        self.outerKeys = snapshot.outerKeys
        self.pending = nil
        self.isActive = true
        self.headerChanged = true
    }
}

extension MLSMessage {
    /// The epoch of a framed proposal or commit, and which of them it is; nil for anything else.
    var handshake: (epoch: UInt64, isCommit: Bool)? {
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
    fileprivate func rollingBack(from epoch: UInt64, displacingOwnCommit: Bool) -> CommitReport {
        CommitReport(
            committer: self.committer, isOwn: self.isOwn, epochBefore: self.epochBefore, epochAfter: self.epochAfter,
            added: self.added, removed: self.removed, before: self.before, after: self.after,
            removedSelf: self.removedSelf, event: self.event, createdAt: self.createdAt, rolledBackFrom: epoch,
            displacedOwnCommit: displacingOwnCommit)
    }
}
