package import MLS
package import Nostr

/// Effect of an input or a pass. The caller carries out the effects in order, and stores their changes in one
/// transaction with the machine.
package enum ConvergenceEffect<State: BranchState>: Sendable {
    /// The selected history changed. Precedes the deliveries of its messages.
    case moved(BranchMove<State>)
    /// An application message is new.
    case delivered(BranchDelivery<State.Message>)
    /// A proposal of the selected state is authentic. For a departure, this member may have to commit it
    /// (``SelfRemoveCommit``).
    case proposed(id: Bytes32, State.Proposal)
    /// The disposition of an input changed, or was decided.
    case disposed(id: Bytes32, InputDisposition)
    /// A pass ended.
    case settled(PassReport)
    /// The group accepts nothing more.
    case halted(ConvergenceHalt)
}

/// Reason why a group accepts nothing more.
package enum ConvergenceHalt: Sendable, Hashable {
    /// A selected commit ended the group for everyone. Final: its id is never used again.
    case disbanded
    /// A needed state is missing. Only a new Welcome helps.
    case unrecoverable(PassFailure)
}

/// Message of a point of the selected history.
package struct BranchDelivery<Message: Sendable>: Sendable {
    /// SHA-256 of the MLSMessage.
    package let id: Bytes32
    /// Where it was sent; store it with the message, because messages are withdrawn and restored by their points.
    package let point: BranchPoint
    /// The author's account.
    package let author: PublicKey
    /// The content.
    package let message: Message
}

/// Commit that is now part of the selected history.
package struct AppliedCommit<State: BranchState>: Sendable {
    /// SHA-256 of the MLSMessage.
    package let id: Bytes32
    /// The epoch that it began.
    package let epoch: Epoch
    /// The committer's account.
    package let committer: PublicKey
    /// Changes that it makes.
    package let change: State.Change
    /// Whether it is this member's own. A change that was queued again after a rollback is then obsolete.
    package let isOwn: Bool
    /// Whether it was applied before and rolled back; its messages are then restored.
    package let isReinstated: Bool
}

/// Commit that is no longer part of the selected history.
package struct UndoneCommit: Sendable, Hashable {
    /// SHA-256 of the MLSMessage.
    package let id: Bytes32
    /// The epoch that it began.
    package let epoch: Epoch
    /// Whether it is this member's own: the change is made again on the new tip, if it still makes sense.
    package let isOwn: Bool
}

/// Change of the selected history.
package struct BranchMove<State: BranchState>: Sendable {
    /// The former tip.
    package let from: BranchPoint
    /// The new tip.
    package let to: BranchPoint
    /// The last common point; equal to `from` unless commits are undone.
    package let fork: BranchPoint
    /// Undone commits, the oldest first. Messages of their points are withdrawn, keep their ids, and are restored when
    /// the commit is applied again. Own messages among them are sent again.
    package let undone: [UndoneCommit]
    /// Applied commits, the oldest first.
    package let applied: [AppliedCommit<State>]
    /// This member's part in the group from now on.
    package let standing: BranchStanding
}

/// Report of a pass, for traces and `pikabot why`.
package struct PassReport: Sendable, Hashable {
    /// The tip's epoch when the pass ended.
    package let base: Epoch
    /// The epoch from which all candidates were replayed.
    package let start: Epoch
    /// Number of candidates.
    package let candidates: Int
    /// The chosen branch; nil if there was none.
    package let winner: BranchCandidate?
    /// The branch that would have won without it.
    package let runnerUp: BranchCandidate?
    /// The rule that decided between the two.
    package let rule: BranchRule?
    /// For each input that this pass found to be on losing branches, the rule by which the chosen branch beat the best of
    /// them.
    package let rules: [Bytes32: BranchRule]
    /// Number of commits that were applied to states for the first time.
    package let applications: Int
    /// The reason why nothing was selected.
    package let failure: PassFailure?
}

/// Status of a group's branch selection.
package enum ConvergenceStatus: Sendable, Hashable {
    /// A pass collects inputs.
    case syncing
    /// Inputs wait for a pass that cannot open yet: a commit by this member is being published, or an admin has the
    /// turn.
    case resolving
    /// Nothing is undecided.
    case settled
    /// The last pass selected nothing; the next one continues.
    case blocked(PassFailure)
    /// The group accepts nothing more.
    case halted(ConvergenceHalt)
}
