import MLS
import Nostr

/// Protection against other copies of this account's state, which have the same keys.
struct AccountCopies: Sendable {
    /// Groups whose keys another copy has too.
    var groups = CopiedGroups()
    var fence = CopyFence()
    var rollback = StateRollbackGuard()
}

/// Groups whose keys another copy of this account has too.
struct CopiedGroups: Sendable {
    private var groups: [GroupID: CopiedGroup] = [:]

    subscript(groupID: GroupID) -> CopiedGroup? { self.groups[groupID] }

    var values: Dictionary<GroupID, CopiedGroup>.Values { self.groups.values }

    /// The groups that satisfy a condition.
    func ids(where condition: (CopiedGroup) -> Bool) -> [GroupID] {
        self.groups.filter { condition($0.value) }.map(\.key)
    }

    func isOvertaken(_ groupID: GroupID) -> Bool { self.groups[groupID]?.phase == .overtaken }

    /// Stores a group; nil if its keys are no longer shared. Returns whether its chat shows another state.
    mutating func put(_ copied: CopiedGroup?, of groupID: GroupID, _ step: inout CoreStep) -> Bool {
        guard self.groups[groupID] != copied else { return false }
        let changesChat = self.isOvertaken(groupID) != (copied?.phase == .overtaken)
        self.groups[groupID] = copied
        step.changes.append(.putMemo(MemoName(.copiedGroup, groupID), copied?.stored))
        return changesChat
    }

    /// Restores a group; false if the memo is unreadable.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        guard let copied = CopiedGroup(memo) else { return false }
        self.groups[groupID] = copied
        return true
    }
}
