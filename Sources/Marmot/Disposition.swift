public import MLS
public import Nostr

/// What became of a group event.
public enum Disposition: Sendable {
    /// A decrypted message of another member.
    case message(ReceivedMessage)
    /// The group is one epoch further.
    case commit(CommitReport)
    /// A proposal was noted.
    case proposal(ProposalReport)
    /// The pending commit came back: a relay has it, so ``MarmotGroup/mergePending()`` is due.
    case ownCommit
    /// One's own message or proposal came back; nothing changed.
    case ownEcho
    /// A message or proposal of this account that this state never sent: another copy of the state did, or a later state
    /// that was rolled back. Its key counts as used from now on.
    case otherCopy(epoch: Epoch)
    /// It cannot be opened yet: keep it and try again after the next epoch change.
    case waiting(WaitingReason)
    /// It is of no use, now or later.
    case refused(Refusal)
}

/// An inner event with its author proved.
public struct ReceivedMessage: Sendable, Hashable {
    public let rumor: UnsignedEvent
    public let id: EventID
    /// The epoch in which it was sent.
    public let epoch: Epoch
    /// The kind 445 event that carried it.
    public let wrapper: EventID
}

/// Why an event is kept for later.
public enum WaitingReason: String, Sendable, Hashable {
    /// No key of a known epoch opens it: it may be of an epoch that is still to come.
    case noKey = "no_key"
    /// It is of an epoch that is still to come.
    case futureEpoch = "future_epoch"
    /// A commit refers to a proposal that has not arrived.
    case missingProposal = "missing_proposal"
    /// Its time is further ahead of this machine's clock than members allow (MIP-03): one of the two clocks is wrong.
    case futureTime = "future_time"
    /// A commit of one's own is on its way; which one stands is decided when a relay has answered.
    case ownCommitPending = "own_commit_pending"
    /// A commit that another copy of this account's state made: the keys of its epoch are not in this one.
    case otherCopy = "other_copy"
}

/// Why an event is of no use, with a label fit for a counter.
public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// For example `not_admin`, `bad_signature`, `lost_race`.
    public let reason: String
    public let detail: String

    init(_ reason: String, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }

    init(_ error: MarmotError) {
        self.init(error.code.description, error.message)
    }

    /// Whether another time of this machine's clock, or messages that are still to come, may change the verdict.
    public var mayBeAcceptedLater: Bool {
        self.reason == MarmotError.Code.badTime.description || self.reason == MLSError.Code.generationTooFar.description
    }

    public var description: String { "\(self.reason): \(self.detail)" }
}

/// A proposal of another member.
public struct ProposalReport: Sendable, Hashable {
    public enum Effect: String, Sendable {
        /// It waits for a commit.
        case pending
        /// This member may commit it at once: somebody leaves.
        case commitDue = "commit_due"
        case ignored
    }

    public let sender: PublicKey
    public let effect: Effect
    /// Whether its sender asks to leave.
    public let isDeparture: Bool
}

/// What a commit did.
public struct CommitReport: Sendable, Hashable {
    public let committer: PublicKey
    public let isOwn: Bool
    public let epochBefore: Epoch
    public let epochAfter: Epoch
    public let added: [PublicKey]
    public let removed: [PublicKey]
    /// Those of the removed who had asked for it.
    public let left: [PublicKey]
    public let before: GroupData
    public let after: GroupData
    /// Whether this member is no longer in the group.
    public let removedSelf: Bool
    /// The kind 445 event.
    public let event: EventID
    public let createdAt: Int64
    /// The epoch that this member had reached on the branch it gave up; nil if nothing was rolled back.
    public let rolledBackFrom: Epoch?
    /// Whether a commit of one's own that was not confirmed yet lost against this one.
    public let displacedOwnCommit: Bool

    public var isSelfUpdate: Bool { self.added.isEmpty && self.removed.isEmpty && self.before == self.after }
}
