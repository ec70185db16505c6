/// One account keeps undoing the commits of a group.
public struct RollbackStorm: Sendable, Hashable {
    public let chatID: String
    public let tally: RollbackTally
}

/// The reaction to a member that keeps undoing the commits of a group.
public enum RollbackStormPolicy: String, Sendable, Hashable, CaseIterable {
    /// Log, count and show it.
    case report
    /// Leave the group too.
    case leave
}
