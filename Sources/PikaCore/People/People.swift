import MLS
import Nostr

/// Profiles and the follow list known to the core, and the requests for them.
struct People: Sendable {
    var profiles = ProfileDirectory()
    /// This account's own profile and follow list, as published.
    var own = OwnProfile()
    /// Members' profiles in one group only.
    private(set) var groups = GroupProfiles()

    // MARK: Profiles in groups

    /// Restores a profile; false if the memo is unreadable.
    mutating func restoreGroupProfile(_ name: MemoName, _ memo: Secret) -> Bool { self.groups.restore(name, memo) }

    /// Stores a profile; true if its shown fields changed.
    mutating func put(
        _ profile: GroupProfile, of key: PublicKey, in groupID: GroupID, _ step: inout CoreStep
    ) -> Bool {
        self.groups.put(profile, of: key, in: groupID, &step)
    }

    /// Removes the profiles of former members once there are too many.
    mutating func removeFormerProfiles(in groupID: GroupID, members: [PublicKey], _ step: inout CoreStep) {
        self.groups.removeFormer(in: groupID, members: members, &step)
    }

    /// Records that this account's profile is to be sent to a group.
    mutating func markGroupProfileUnsent(in groupID: GroupID) { self.groups.markUnsent(groupID) }

    /// Records that this account's profile was sent to a group.
    mutating func markGroupProfileSent(in groupID: GroupID) { self.groups.markSent(groupID) }

    /// Records that an account's profile is to be sent to all groups where it has one.
    mutating func markGroupProfilesUnsent(of account: PublicKey) { self.groups.markAllUnsent(of: account) }
}
