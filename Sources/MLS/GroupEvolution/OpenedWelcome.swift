/// Group that a Welcome led to, and its inviter.
public struct OpenedWelcome: Sendable {
    /// The group, as its new member sees it.
    public let group: MLSGroup
    /// Leaf of the member that signed the GroupInfo: the committer that added this member.
    public let signer: LeafIndex
}
