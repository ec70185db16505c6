import Errors
public import MLS
public import Nostr

/// Outcome of processing a group event.
public enum Disposition: Sendable {
    /// A decrypted message of another member.
    case message(ReceivedMessage)
    /// A commit was applied; the report has the epochs before and after.
    case commit(CommitReport)
    /// A proposal was stored.
    case proposal(ProposalReport)
    /// The pending commit came back: a relay has it, so call ``MarmotGroup/mergePending()``.
    case ownCommit
    /// This account's own message or proposal came back; nothing changed.
    case ownEcho
    /// A message or proposal of this account that this state never sent: it comes from another copy of the state, or
    /// from a later state that was rolled back. Its message key counts as used from now on.
    case otherCopy(epoch: Epoch)
    /// The event cannot be opened yet: keep it and retry after the next epoch change.
    case waiting(WaitingReason)
    /// The event is invalid or obsolete; ``Refusal/mayBeAcceptedLater`` marks the exceptions.
    case refused(Refusal)
}

/// Inner event whose author has been authenticated.
public struct ReceivedMessage: Sendable, Hashable {
    /// The inner event; its author is the account of the member that sent it.
    public let rumor: UnsignedEvent
    /// Id of the inner event.
    public let id: EventID
    /// The epoch in which it was sent.
    public let epoch: Epoch
    /// The sender's leaf in that epoch.
    package let leaf: LeafIndex
    /// The kind 445 event that carried it.
    public let wrapper: EventID
}

/// Reason why an event is kept and retried later.
public enum WaitingReason: String, Sendable, Hashable {
    /// No key of a known epoch opens it; it may belong to a future epoch.
    case noKey = "no_key"
    /// The event belongs to a future epoch.
    case futureEpoch = "future_epoch"
    /// A commit refers to a proposal that has not arrived.
    case missingProposal = "missing_proposal"
    /// Its time is further ahead of this machine's clock than MIP-03 allows: one of the two clocks is wrong.
    case futureTime = "future_time"
    /// This account's own commit is in flight; the race is decided once a relay has answered.
    case ownCommitPending = "own_commit_pending"
    /// A commit made by another copy of this account's state; this copy lacks the keys of its epoch.
    case otherCopy = "other_copy"
}

/// Reason why an event was refused, with a label suitable for a counter.
public struct Refusal: Sendable, Hashable, CustomStringConvertible {
    /// For example `not_admin`, `bad_signature`, `lost_race`.
    public let reason: String
    /// The expected and the actual value, for people.
    public let detail: String

    init(reason: String, detail: String) {
        self.reason = reason
        self.detail = detail
    }

    init(_ code: MarmotError.Code, _ detail: String) {
        self.reason = code.description
        self.detail = detail
    }

    init(_ error: MarmotError) {
        self.init(error.code, error.message)
    }

    init(_ error: MLSError) {
        self.reason = error.code.description
        self.detail = error.message
    }

    /// Whether a later clock reading or messages still to come may change the verdict.
    public var mayBeAcceptedLater: Bool {
        self.reason == MarmotError.Code.badTime.description || self.reason == MLSError.Code.generationTooFar.description
    }

    /// Reason and detail in one line.
    public var description: String { "\(self.reason): \(self.detail)" }
}

/// A proposal of another member.
public struct ProposalReport: Sendable, Hashable {
    /// Consequence of a proposal for this account.
    public enum Effect: String, Sendable {
        /// Waits for a commit.
        case pending
        /// This member may commit it at once: a member leaves.
        case commitDue = "commit_due"
        /// This account will not commit it: wrong type, too many by the same sender, or its epoch has ended.
        case ignored
    }

    /// The proposer's identity.
    public let sender: PublicKey
    /// This account's reaction to the proposal.
    public let effect: Effect
    /// The proposed change.
    public let change: ProposedChange

    /// Whether the sender proposes its own departure.
    public var isDeparture: Bool { self.change == .departure }
}

/// Effects of an applied commit.
public struct CommitReport: Sendable, Hashable {
    /// The committer's identity.
    public let committer: PublicKey
    /// Whether this account made the commit.
    public let isOwn: Bool
    /// Epoch that the commit ends.
    public let epochBefore: Epoch
    /// Epoch that the commit starts.
    public let epochAfter: Epoch
    /// Identities that the commit adds, sorted.
    public let added: [PublicKey]
    /// Identities that the commit removes, sorted, including those in ``left``.
    public let removed: [PublicKey]
    /// The removed members who had proposed their own departure.
    public let left: [PublicKey]
    /// Group data before the commit.
    public let before: GroupData
    /// Group data after the commit.
    public let after: GroupData
    /// Whether the commit removed this member.
    public let removedSelf: Bool
    /// The kind 445 event.
    public let event: EventID
    /// Time of the commit's event.
    public let createdAt: UnixTime
    /// Epoch that this member had reached on the branch it rolled back; nil if nothing was rolled back.
    public let rolledBackFrom: Epoch?
    /// Whether an unconfirmed commit of this account lost against this one.
    public let displacedOwnCommit: Bool

    /// Whether neither the members nor the group data changed.
    public var isSelfUpdate: Bool { self.added.isEmpty && self.removed.isEmpty && self.before == self.after }
}
