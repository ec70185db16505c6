/// Content of a processed framed message.
public enum Received: Sendable {
    case application(ApplicationMessage)
    case proposal(ReceivedProposal)
    case commit(StagedCommit)
}

/// A decrypted application message.
public struct ApplicationMessage: Sendable, Hashable {
    public let epoch: Epoch
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
    public let sender: LeafIndex
    public let proposal: Proposal
}

/// Verified commit of another member, not yet applied; assign ``next`` to the group to apply it.
public struct StagedCommit: Sendable {
    /// The epoch that the commit ends.
    public let epoch: Epoch
    public let changes: CommitChanges
    /// The group after the commit; nil if the commit removed this member.
    public let next: MLSGroup?
}

/// Effects of a commit on the group's members.
public struct CommitChanges: Sendable, Hashable {
    /// A member's leaf before and after.
    public struct Update: Sendable, Hashable {
        public let index: LeafIndex
        public let old: LeafNode
        public let new: LeafNode
    }

    public struct Member: Sendable, Hashable {
        public let index: LeafIndex
        public let leaf: LeafNode
    }

    /// Proposal and the member that made it.
    public struct Proposed: Sendable, Hashable {
        public let sender: LeafIndex
        public let proposal: Proposal
    }

    public let committer: LeafIndex
    /// The committer's leaf before the commit.
    public let committerLeaf: LeafNode
    public let proposals: [Proposed]
    public internal(set) var added: [Member]
    public internal(set) var removed: [Member]
    /// Leaves replaced by Update proposals, and the committer's own new leaf.
    public internal(set) var updated: [Update]
    /// Whether the commit has a path, which gives the committer fresh keys.
    public let hasPath: Bool
    /// The GroupContext extensions after the commit; nil if unchanged.
    public internal(set) var extensions: [Extension]?
}
