import MLS

/// The state of each group that this account shares with the other members, and whether its own events may be sent in
/// it. ``BranchDecision`` is its view of a protocol generation's branch rule.
struct Convergence: Sendable {
    var branches = Branches()
    var rollbacks = Rollbacks()
    var copies = CopiedGroups()
    var fence = CopyFence()
    var stateRollback = StateRollbackGuard()
    /// Groups with a pending commit that may or may not be on a relay.
    private(set) var unsureCommits: Set<GroupID> = []
    /// Groups that this account was removed from recently.
    private var lingering: Set<GroupID> = []

    // MARK: Unsure commits

    /// Records that it is unknown whether a relay has a group's pending commit.
    mutating func noteUnsureCommit(of groupID: GroupID) { self.unsureCommits.insert(groupID) }

    /// Records that a group's pending commit was decided or replaced.
    mutating func endUnsureCommit(of groupID: GroupID) { self.unsureCommits.remove(groupID) }

    // MARK: Removed groups

    /// Whether a group stays subscribed after this account's removal, since messages sent before may arrive late.
    func isLingering(_ groupID: GroupID) -> Bool { self.lingering.contains(groupID) }

    mutating func linger(_ groupID: GroupID) { self.lingering.insert(groupID) }

    /// Returns whether the group was lingering.
    mutating func stopLingering(_ groupID: GroupID) -> Bool { self.lingering.remove(groupID) != nil }
}
