import MLS
import Nostr

/// What the core knows of people, and what it is finding out.
struct People: Sendable {
    /// Public profiles, also those that the relays do not have; this account's own is among them, whole.
    var profiles: [PublicKey: KnownProfile] = [:]
    /// Whose profiles are to be asked for.
    var due: Set<PublicKey> = []
    /// The request under way.
    var search: ProfileSearch?
    var lastSearch = 0

    /// This account's newest kind 3 event.
    var followList: Event?
    /// This account's own profile and follow list are being read.
    var reading: OwnReading?
    var lastReading = 0
    /// How the last reading ended.
    var read: OwnReading.Result?
    /// What waits for the reading.
    var saves: [(draft: ProfileDraft, request: RequestID?)] = []
    var follows: [(key: PublicKey, isFollowed: Bool, request: RequestID?)] = []
    var refreshes: [RequestID?] = []
    /// What came during a reading, and waits for the next: relays may have been asked before there was anything new.
    var laterRefreshes: [RequestID?] = []

    /// What members call themselves in a group, by group id.
    var groupProfiles: [GroupID: [PublicKey: GroupProfile]] = [:]
    /// Groups that are to be told of this account's own profile there.
    var untold: Set<GroupID> = []
}

/// A request for the profiles of some people, to each relay by itself, so that a slow one holds nobody up.
struct ProfileSearch: Sendable {
    let number: Int
    let peers: Set<PublicKey>
    /// Relays that have not answered yet.
    var open: Set<RelayURL>
    var answered = 0
    var failed = 0
}

/// A reading of what this account has published of itself.
struct OwnReading: Sendable {
    struct Result: Sendable, Hashable {
        /// Unix seconds.
        var at: Int64
        /// Whether some relay answered, and whether all did.
        var hasAnswer: Bool
        var isComplete: Bool
    }

    let number: Int
    var open: Set<RelayURL>
    var answered = 0
    var failed = 0
}
