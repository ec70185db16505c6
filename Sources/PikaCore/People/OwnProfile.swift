import MLS
import Nostr

/// A reading of this account's own published profile, follow list and relay list (NIP-65).
struct OwnReading: Sendable {
    struct Result: Sendable, Hashable {
        /// The time of the reading.
        var at: UnixTime
        /// Whether at least one relay answered, and whether all did.
        var hasAnswer: Bool
        var isComplete: Bool
    }

    let number: Int
    var open: Set<RelayURL>
    var answered = 0
    var failed = 0
}

/// This account's own profile (kind 0) and follow list (kind 3). Each is a single replaceable event that every change
/// rewrites, so it is read first, and nothing that other programs wrote into it is lost.
struct OwnProfile: Sendable {
    private static let followListMemo = MemoName(.followList, [])

    /// This account's newest kind 3 event.
    private(set) var followList: Event?
    /// The reading in progress.
    private var reading: OwnReading?
    private(set) var lastReading = 0
    /// The result of the last reading.
    private(set) var result: OwnReading.Result?
    /// Changes and refreshes that wait for the reading.
    private var saves: [(draft: ProfileDraft, request: RequestID?)] = []
    private var follows: [(key: PublicKey, isFollowed: Bool, request: RequestID?)] = []
    private var refreshes: [RequestID?] = []
    /// Refreshes requested during a reading, which wait for the next: relays may have answered before the change.
    private var laterRefreshes: [RequestID?] = []

    var isReading: Bool { self.reading != nil }
    var hasRefreshes: Bool { !self.refreshes.isEmpty }

    // MARK: The follow list

    /// Restores the stored follow list; false if it is unreadable.
    mutating func restoreFollowList(_ memo: Secret) -> Bool {
        guard let event = JSONValue(memo: memo)?["event"].flatMap({ Event($0) }), event.kind == .followList else {
            return false
        }
        self.followList = event
        return true
    }

    /// Whether relays and clients keep this follow list rather than the known one.
    func replacesFollowList(_ event: Event) -> Bool {
        self.followList.map { (event.createdAt, $0.id) > ($0.createdAt, event.id) } ?? true
    }

    mutating func set(followList event: Event, _ step: inout CoreStep) {
        self.followList = event
        let memo: JSONValue = ["v": 1, "event": event.jsonValue]
        step.changes.append(.putMemo(Self.followListMemo, Secret(memo.json())))
    }

    // MARK: Reading

    /// Queries every relay; a reading in progress continues.
    mutating func read(_ account: PublicKey, from relays: Set<RelayURL>, _ step: inout CoreStep) {
        guard self.reading == nil, !relays.isEmpty else { return }
        self.lastReading += 1
        self.reading = OwnReading(number: self.lastReading, open: relays)
        let filter = Filter(authors: [account], kinds: [.metadata, .followList, .relayList])
        for relay in relays.sorted() {
            step.effects.append(.fetch(.own(reading: self.lastReading), [filter], from: [relay]))
        }
    }

    /// Processes answers to the reading in progress. Returns the events found, and the result of the reading if it is
    /// over; nil for an outdated answer.
    mutating func receive(
        _ outcomes: [RelayURL: FetchOutcome], ofReading number: Int, account: PublicKey, now: UnixTime
    ) -> (events: [Event], result: OwnReading.Result?)? {
        guard var reading = self.reading, reading.number == number else { return nil }
        var found: [Event] = []
        for (relay, outcome) in outcomes where reading.open.remove(relay) != nil {
            guard case .events(let events) = outcome else {
                reading.failed += 1
                continue
            }
            reading.answered += 1
            found += events.filter { $0.pubkey == account }
        }
        guard reading.open.isEmpty else {
            self.reading = reading
            return (found, nil)
        }
        self.reading = nil
        let result = OwnReading.Result(at: now, hasAnswer: reading.answered > 0, isComplete: reading.failed == 0)
        self.result = result
        return (found, result)
    }

    // MARK: Refreshes

    /// Adds a refresh, which completes with the next reading that begins from here on.
    mutating func addRefresh(_ request: RequestID?) {
        if self.reading == nil { self.refreshes.append(request) } else { self.laterRefreshes.append(request) }
    }

    /// Removes the refreshes that completed with a reading; those requested during it wait for the next one.
    mutating func drainRefreshes() -> [RequestID?] {
        let completed = self.refreshes
        self.refreshes = self.laterRefreshes
        self.laterRefreshes = []
        return completed
    }

    // MARK: Changes

    mutating func addSave(_ draft: ProfileDraft, _ request: RequestID?) { self.saves.append((draft, request)) }

    mutating func addFollow(_ key: PublicKey, _ isFollowed: Bool, _ request: RequestID?) {
        self.follows.append((key, isFollowed, request))
    }

    mutating func drainSaves() -> [(draft: ProfileDraft, request: RequestID?)] {
        defer { self.saves = [] }
        return self.saves
    }

    mutating func drainFollows() -> [(key: PublicKey, isFollowed: Bool, request: RequestID?)] {
        defer { self.follows = [] }
        return self.follows
    }
}
