/// Commit of this member, published first; then applied once a relay has it, or dropped if that fails (RFC 9420 §14).
public struct PendingCommit: Sendable {
    /// The encoded MLSMessage for the members.
    public let message: [UInt8]
    /// The encoded MLSMessage with the Welcome for all added members; nil if the commit adds none.
    public let welcome: [UInt8]?
    /// Changes that the commit makes.
    public let changes: CommitChanges
    /// Public state after the commit, for the same judgement as of a received commit.
    public var outcome: CommitOutcome { CommitOutcome(extensions: self.next.extensions, tree: self.next.tree) }
    /// The group after the commit. To merge, assign it to the group; to clear, drop it.
    public let next: MLSGroup
}
