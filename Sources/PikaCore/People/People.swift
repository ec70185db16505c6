import MLS
import Nostr

/// Profiles and the follow list known to the core, and the requests for them.
struct People: Sendable {
    private(set) var profiles = ProfileDirectory()
    /// This account's own profile and follow list, as published.
    var own = OwnProfile()
    /// Members' profiles in one group only.
    private(set) var groups = GroupProfiles()

    // MARK: Public profiles

    /// Restores a profile; false if the memo is unreadable.
    mutating func restoreProfile(_ key: [UInt8], _ memo: Secret) -> Bool { self.profiles.restore(key, memo) }

    /// Marks the profiles that are unknown or outdated as due.
    ///
    /// - Parameter isUrgent: whether recent profiles are fetched again too.
    mutating func wantProfiles(of keys: some Sequence<PublicKey>, isUrgent: Bool, now: UnixTime) {
        self.profiles.want(keys, isUrgent: isUrgent, now: now)
    }

    /// Sends a request for due profiles, unless one is in progress.
    mutating func requestProfiles(from relays: [RelayURL], _ step: inout CoreStep) {
        self.profiles.sendRequest(to: relays, &step)
    }

    /// Records that the timer for the next request has fired.
    mutating func endProfilePause() { self.profiles.endBudgetPause() }

    /// Processes answers to the request in progress. Returns the people whose shown profile changed, and whether the
    /// next request may be sent; nil for an outdated answer.
    mutating func receiveProfiles(
        _ outcomes: [RelayURL: FetchOutcome], ofSearch number: Int, account: PublicKey, _ step: inout CoreStep
    ) -> (changed: Set<PublicKey>, isNextDue: Bool)? {
        self.profiles.receive(outcomes, ofSearch: number, account: account, &step)
    }

    /// Stores a profile; true if its shown fields changed.
    ///
    /// - Parameter isOwn: this account's own profile always has room.
    mutating func put(_ profile: KnownProfile, of key: PublicKey, isOwn: Bool, _ step: inout CoreStep) -> Bool {
        self.profiles.put(profile, of: key, isOwn: isOwn, &step)
    }

    /// Removes outdated profiles of other people than these.
    mutating func removeProfiles(except people: Set<PublicKey>, _ step: inout CoreStep) {
        self.profiles.remove(except: people, &step)
    }

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
