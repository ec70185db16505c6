import MLS
import Marmot

/// The answer of a protocol generation's branch rule to a candidate event of a group.
///
/// The model depends only on decisions, not on the rule that made them.
enum BranchDecision: Sendable {
    /// The event belongs to the current branch and has changed it.
    case apply(Change)
    /// The event cannot be decided yet: keep it, and offer it again after the next change of the branch.
    case hold(WaitingReason)
    /// The commit is better than the one that ended this epoch: it was applied after a rollback to that epoch.
    case rollBack(to: Epoch, CommitReport)
    /// The event is invalid, or a commit that lost its race.
    case refuse(Refusal)

    enum Change: Sendable {
        case message(ReceivedMessage)
        case commit(CommitReport)
        case proposal(ProposalReport)
        /// A relay has this account's pending commit, which is to be merged.
        case ownCommit
        /// This account's own message or proposal.
        case ownEcho
        /// A message or proposal of this account that this state never sent.
        case otherCopy(epoch: Epoch)
    }

    /// Returns the decision of the MIP-03 rule, by which the earliest commit of an epoch wins. ``MarmotGroup`` applies
    /// the rule, within the epochs whose states it keeps.
    init(_ disposition: Disposition) {
        self =
            switch disposition {
            case .message(let message): .apply(.message(message))
            case .commit(let report):
                report.rolledBackFrom == nil ? .apply(.commit(report)) : .rollBack(to: report.epochBefore, report)
            case .proposal(let proposal): .apply(.proposal(proposal))
            case .ownCommit: .apply(.ownCommit)
            case .ownEcho: .apply(.ownEcho)
            case .otherCopy(let epoch): .apply(.otherCopy(epoch: epoch))
            case .waiting(let reason): .hold(reason)
            case .refused(let refusal): .refuse(refusal)
            }
    }
}
