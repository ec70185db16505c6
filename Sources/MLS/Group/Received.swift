/// Content of a processed framed message.
public enum Received: Sendable {
    /// A decrypted message; its key has been deleted.
    case application(ApplicationMessage)
    /// A proposal, now pending in the group.
    case proposal(ReceivedProposal)
    /// A verified commit, not yet applied.
    case commit(StagedCommit)
}

/// A decrypted application message.
public struct ApplicationMessage: Sendable, Hashable {
    /// Epoch in which the message was sent: the current one or a past one.
    public let epoch: Epoch
    /// The sender's leaf index in that epoch.
    public let sender: LeafIndex
    /// The sender's leaf in that epoch.
    public let senderLeaf: LeafNode
    /// Authenticated data: signed but not encrypted.
    public let authenticatedData: [UInt8]
    /// The plaintext.
    public let data: [UInt8]
}

/// Proposal that waits for a commit.
public struct ReceivedProposal: Sendable, Hashable {
    /// ProposalRef (RFC 9420 §5.2).
    public let reference: [UInt8]
    /// The proposer's leaf.
    public let sender: LeafIndex
    /// The proposed change, not validated before a commit contains it.
    public let proposal: Proposal
}

/// Verified commit of another member, not yet applied; assign ``next`` to the group to apply it.
///
/// The application judges ``changes`` and ``outcome`` before that, and drops a commit that its rules forbid: the group
/// has not changed.
public struct StagedCommit: Sendable {
    /// The epoch that the commit ends.
    public let epoch: Epoch
    /// Changes that the commit makes.
    public let changes: CommitChanges
    /// Public state after the commit, also if it removes this member; then without the committer's new leaf.
    public let outcome: CommitOutcome
    /// The group after the commit; nil if the commit removed this member.
    public let next: MLSGroup?
}

/// Public state of a group after a commit.
public struct CommitOutcome: Sendable {
    /// The GroupContext extensions.
    public let extensions: [Extension]
    let tree: RatchetTree

    /// The members in leaf order.
    public var members: [(index: LeafIndex, leaf: LeafNode)] { self.tree.members }
}

/// Effects of a commit on the group's members.
public struct CommitChanges: Sendable, Hashable {
    /// A member's leaf before and after.
    public struct Update: Sendable, Hashable {
        /// The member's leaf index.
        public let index: LeafIndex
        /// The leaf before the commit.
        public let old: LeafNode
        /// The leaf after the commit.
        public let new: LeafNode
    }

    /// Leaf of an added or removed member.
    public struct Member: Sendable, Hashable {
        /// The member's leaf index.
        public let index: LeafIndex
        /// The added leaf, or the leaf before its removal.
        public let leaf: LeafNode
    }

    /// Proposal and the member that made it.
    public struct Proposed: Sendable, Hashable {
        /// The proposer's leaf; the committer's for a proposal sent inside the commit.
        public let sender: LeafIndex
        /// The proposed change.
        public let proposal: Proposal
        /// ProposalRef (RFC 9420 §5.2) of a proposal sent earlier; nil for one inside the commit.
        public let reference: [UInt8]?

        /// Whether the proposal is inside the commit, which makes it the committer's.
        public var isInline: Bool { self.reference == nil }
    }

    /// The committer's leaf index.
    public let committer: LeafIndex
    /// The committer's leaf before the commit.
    public let committerLeaf: LeafNode
    /// All proposals of the commit, in its order.
    public let proposals: [Proposed]
    /// Members that the commit adds, in the order of their proposals.
    public internal(set) var added: [Member]
    /// Members that the commit removes, in the order of their proposals.
    public internal(set) var removed: [Member]
    /// Leaves replaced by Update proposals, and the committer's own new leaf.
    public internal(set) var updated: [Update]
    /// Whether the commit has a path, which gives the committer fresh keys.
    public let hasPath: Bool
    /// The GroupContext extensions after the commit; nil if unchanged.
    public internal(set) var extensions: [Extension]?
}
