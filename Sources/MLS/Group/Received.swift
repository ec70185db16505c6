/// What a framed message turned out to be.
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
    /// Signed along, but not encrypted.
    public let authenticatedData: [UInt8]
    /// The plaintext.
    public let data: [UInt8]
}

/// A proposal that waits for a commit.
public struct ReceivedProposal: Sendable, Hashable {
    /// ProposalRef (RFC 9420 §5.2).
    public let reference: [UInt8]
    public let sender: LeafIndex
    public let proposal: Proposal
}

/// A verified commit of another member that was not applied yet: applying it is assigning ``next``.
public struct StagedCommit: Sendable {
    /// The epoch that the commit ends.
    public let epoch: Epoch
    public let changes: CommitChanges
    /// The group after the commit; nil when the commit removed this member.
    public let next: MLSGroup?
}

/// What a commit does, in terms of members.
public struct CommitChanges: Sendable, Hashable {
    /// A member before and after.
    public struct Update: Sendable, Hashable {
        public let index: LeafIndex
        public let old: LeafNode
        public let new: LeafNode
    }

    public struct Member: Sendable, Hashable {
        public let index: LeafIndex
        public let leaf: LeafNode
    }

    /// One proposal, with the member that made it.
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
    /// Update proposals and the committer's own new leaf.
    public internal(set) var updated: [Update]
    /// Whether the committer brought in fresh keys.
    public let hasPath: Bool
    /// The GroupContext extensions after the commit, if it changed them.
    public internal(set) var extensions: [Extension]?
}
