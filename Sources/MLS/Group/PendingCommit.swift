/// A commit of one's own: published first, applied when a relay has it, dropped when it failed (RFC 9420 §14).
public struct PendingCommit: Sendable {
    /// The encoded MLSMessage for the members.
    public let message: [UInt8]
    /// The encoded MLSMessage with the Welcome for all that it adds; nil if it adds nobody.
    public let welcome: [UInt8]?
    public let changes: CommitChanges
    /// The group after the commit; merging is assigning it, clearing is dropping it.
    public let next: MLSGroup
}
