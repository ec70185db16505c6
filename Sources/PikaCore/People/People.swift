/// Profiles and the follow list known to the core, and the requests for them.
struct People: Sendable {
    var profiles = ProfileDirectory()
    /// This account's own profile and follow list, as published.
    var own = OwnProfile()
    /// Members' profiles in one group only.
    var groups = GroupProfiles()
}
