/// A report that one account repeatedly undoes the commits of a group.
public struct RollbackStorm: Sendable, Hashable {
    /// The id of the chat.
    public let chatID: ChatID
    /// The account and its rollbacks of the group.
    public let tally: RollbackTally
}

/// The reaction to a member that repeatedly undoes the commits of a group.
public enum RollbackStormPolicy: String, Sendable, Hashable, CaseIterable {
    /// Logs, counts and shows it.
    case report
    /// Does the same, and leaves the group.
    case leave
}
