import MLS
import Nostr

/// Members' profiles in one group only: kind 0 inside the group (docs/protocol/marmot.md §8.3).
struct GroupProfiles: Sendable {
    /// Profiles of former members that are kept per group, since their messages are still shown.
    private static let maximumFormer = 200

    private(set) var profiles: [GroupID: [PublicKey: GroupProfile]] = [:]
    /// Groups to which this account's own profile is to be sent.
    private(set) var unsent: Set<GroupID> = []

    subscript(groupID: GroupID) -> [PublicKey: GroupProfile] { self.profiles[groupID] ?? [:] }

    /// Restores a profile; false if the memo is unreadable.
    mutating func restore(_ name: MemoName, _ memo: Secret) -> Bool {
        guard let owner = GroupProfile.owner(name), let profile = GroupProfile(of: owner.key, memo: memo) else {
            return false
        }
        self.profiles[owner.groupID, default: [:]][owner.key] = profile
        return true
    }

    /// Stores a profile; true if its shown fields changed.
    mutating func put(
        _ profile: GroupProfile, of key: PublicKey, in groupID: GroupID, _ step: inout CoreStep
    ) -> Bool {
        let known = self.profiles[groupID]?[key]
        self.profiles[groupID, default: [:]][key] = profile
        step.changes.append(.putMemo(GroupProfile.memoName(groupID, key), profile.memo))
        return known?.shown != profile.shown
    }

    /// Removes the profiles of former members once there are too many.
    mutating func removeFormer(in groupID: GroupID, members: [PublicKey], _ step: inout CoreStep) {
        guard let known = self.profiles[groupID], known.count >= members.count + Self.maximumFormer else { return }
        for key in Set(known.keys).subtracting(members) {
            self.profiles[groupID]?[key] = nil
            step.changes.append(.putMemo(GroupProfile.memoName(groupID, key), nil))
        }
    }

    // MARK: Sending this account's profile

    mutating func markUnsent(_ groupID: GroupID) { self.unsent.insert(groupID) }

    mutating func markSent(_ groupID: GroupID) { self.unsent.remove(groupID) }

    /// Marks an account's profile as unsent in all groups where it has one.
    mutating func markAllUnsent(of account: PublicKey) {
        self.unsent.formUnion(self.profiles.filter { $0.value[account] != nil }.keys)
    }
}
