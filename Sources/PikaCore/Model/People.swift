import MLS
import Nostr

/// Profiles and follow list known to the core, and the requests for them in progress.
struct People: Sendable {
    /// Public profiles, including those that relays do not have; this account's own is among them, in full.
    var profiles: [PublicKey: KnownProfile] = [:]
    /// People whose profiles are to be fetched.
    var due: Set<PublicKey> = []
    /// The request in progress.
    var search: ProfileSearch?
    var lastSearch = 0

    /// This account's newest kind 3 event.
    var followList: Event?
    /// The reading of this account's own profile and follow list in progress.
    var reading: OwnReading?
    var lastReading = 0
    /// The result of the last reading.
    var read: OwnReading.Result?
    /// Changes and refreshes that wait for the reading.
    var saves: [(draft: ProfileDraft, request: RequestID?)] = []
    var follows: [(key: PublicKey, isFollowed: Bool, request: RequestID?)] = []
    var refreshes: [RequestID?] = []
    /// Refreshes requested during a reading, which wait for the next: relays may have answered before the change.
    var laterRefreshes: [RequestID?] = []

    /// Members' profiles in each group, by group id.
    var groupProfiles: [GroupID: [PublicKey: GroupProfile]] = [:]
    /// Groups to which this account's own group profile is to be sent.
    var untold: Set<GroupID> = []
}

/// A request for profiles, sent to each relay separately so that a slow relay does not delay the others.
struct ProfileSearch: Sendable {
    let number: Int
    let peers: Set<PublicKey>
    /// Relays that have not answered yet.
    var open: Set<RelayURL>
    var answered = 0
    var failed = 0
}

/// A reading of this account's own published profile and follow list.
struct OwnReading: Sendable {
    struct Result: Sendable, Hashable {
        /// Unix seconds.
        var at: Int64
        /// Whether at least one relay answered, and whether all did.
        var hasAnswer: Bool
        var isComplete: Bool
    }

    let number: Int
    var open: Set<RelayURL>
    var answered = 0
    var failed = 0
}
