import MLS
import Nostr

/// Public profiles (kind 0) of all people that this account deals with, fetched in batches and stored.
struct ProfileDirectory: Sendable {
    /// Seconds after which a profile is fetched again; the second applies if some relay had not answered.
    static let lifetime: Int64 = 86_400
    static let partialLifetime: Int64 = 3600
    /// Seconds within which a profile is not fetched twice, even on an urgent request.
    static let pause: Int64 = 60
    /// The maximum number of profiles stored.
    static let capacity = 5000
    /// The maximum number of people per request.
    static let peoplePerRequest = 100
    /// The budget of requests, urgent ones included: enough for all stored profiles at once, then one a minute. Anyone may
    /// add this account to groups of strangers, and no such group may make it flood its relays.
    static let budget = RateLimit(60, per: .seconds(3600))
    /// Milliseconds until the next request once the budget is used up.
    static let budgetPause: Int64 = 60_000

    /// A request for profiles, sent to each relay separately so that a slow relay does not delay the others.
    private struct Search: Sendable {
        let number: Int
        let peers: Set<PublicKey>
        /// Relays that have not answered yet.
        var open: Set<RelayURL>
        var answered = 0
        var failed = 0
    }

    /// Also records people without a profile on the relays. This account's own profile is kept in full.
    private var profiles: [PublicKey: KnownProfile] = [:]
    /// People whose profiles are to be fetched.
    private(set) var due: Set<PublicKey> = []
    /// The request in progress.
    private var search: Search?
    private(set) var lastSearch = 0
    private var requests = RateLimiter<Int>(capacity: 1)
    /// Whether a timer will send the next request.
    private var awaitsBudget = false

    var isSearching: Bool { self.search != nil }

    subscript(key: PublicKey) -> KnownProfile? { self.profiles[key] }

    /// Restores a profile; false if the memo is unreadable.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard let key = try? PublicKey(bytes: key), let profile = KnownProfile(of: key, memo: memo) else {
            return false
        }
        self.profiles[key] = profile
        return true
    }

    // MARK: Requests

    /// Marks the profiles of these people as due that are unknown or outdated.
    ///
    /// - Parameter isUrgent: whether recent profiles are fetched again too.
    mutating func want(_ keys: some Sequence<PublicKey>, isUrgent: Bool, now: UnixTime) {
        for key in keys where self.search?.peers.contains(key) != true {
            let known = self.profiles[key]
            let isWanted = known.map { isUrgent && now.seconds(since: $0.fetchedAt) >= Self.pause || $0.isDue(now) }
            if isWanted ?? true { self.due.insert(key) }
        }
    }

    /// Sends the next request if one is due and none is in progress. Beyond the budget it waits.
    mutating func sendRequest(to relays: [RelayURL], _ step: inout CoreStep) {
        guard self.search == nil, !self.due.isEmpty else { return }
        guard self.requests.consume(0, Self.budget, nowMilliseconds: step.nowMilliseconds) else {
            return self.awaitBudget(&step)
        }
        let peers = Array(self.due.sorted().prefix(Self.peoplePerRequest))
        self.due.subtract(peers)
        self.lastSearch += 1
        self.search = Search(number: self.lastSearch, peers: Set(peers), open: Set(relays))
        for relay in Set(relays).sorted() {
            step.effects.append(
                .fetch(
                    .profiles(search: self.lastSearch), [Filter(authors: peers, kinds: [.metadata])], from: [relay]))
        }
    }

    private mutating func awaitBudget(_ step: inout CoreStep) {
        guard !self.awaitsBudget else { return }
        self.awaitsBudget = true
        step.effects.append(
            .wake(.profiles, atMilliseconds: step.nowMilliseconds.clampedAdding(Self.budgetPause)))
    }

    /// Records that the timer for the next request has fired.
    mutating func endBudgetPause() { self.awaitsBudget = false }

    /// Whether the answers to a request may exceed the maximum number of profiles.
    func needsRoom(forSearch number: Int) -> Bool {
        guard let search = self.search, search.number == number else { return false }
        return self.profiles.count + search.peers.count > Self.capacity
    }

    /// Processes answers to the request in progress. Returns the people whose shown profile changed, and whether the
    /// next request may be sent; nil for an outdated answer.
    mutating func receive(
        _ outcomes: [RelayURL: FetchOutcome], ofSearch number: Int, account: PublicKey, _ step: inout CoreStep
    ) -> (changed: Set<PublicKey>, isNextDue: Bool)? {
        guard var search = self.search, search.number == number else { return nil }
        var found: [PublicKey: ProfileSource] = [:]
        for (relay, outcome) in outcomes where search.open.remove(relay) != nil {
            guard case .events(let events) = outcome else {
                search.failed += 1
                continue
            }
            search.answered += 1
            for event in events where event.kind == .metadata && search.peers.contains(event.pubkey) {
                let source = ProfileSource(of: event)
                if source.replaces(found[event.pubkey]) { found[event.pubkey] = source }
            }
        }
        let changed = self.update(with: found, of: search, account, &step)
        guard search.open.isEmpty else {
            self.search = search
            return (changed, false)
        }
        self.search = nil
        // If no relay answered, they are requested again when a relay connects, or with the next request.
        if search.answered == 0 { self.due.formUnion(search.peers) }
        return (changed, search.answered > 0)
    }

    private mutating func update(
        with found: [PublicKey: ProfileSource], of search: Search, _ account: PublicKey, _ step: inout CoreStep
    ) -> Set<PublicKey> {
        let isOver = search.open.isEmpty && search.answered > 0
        var changed: Set<PublicKey> = []
        for key in isOver ? search.peers.sorted() : found.keys.sorted() {
            let known = self.profiles[key]?.source
            var source = known
            if let new = found[key], new.replaces(known) { source = new }
            guard isOver || source != known else { continue }
            let profile = KnownProfile(
                of: key, source: source, fetchedAt: step.now, isComplete: isOver && search.failed == 0)
            if self.put(profile, of: key, isOwn: key == account, &step) { changed.insert(key) }
        }
        return changed
    }

    // MARK: Changes

    /// Stores a profile; true if its shown fields changed.
    ///
    /// - Parameter isOwn: this account's own profile always has room.
    mutating func put(_ profile: KnownProfile, of key: PublicKey, isOwn: Bool, _ step: inout CoreStep) -> Bool {
        let known = self.profiles[key]
        let hasRoom = self.profiles.count < Self.capacity || isOwn
        guard known != profile, known != nil || hasRoom else { return false }
        self.profiles[key] = profile
        step.changes.append(.putMemo(MemoName(.profile, key.bytes), profile.memo))
        return (known?.shown ?? AppState.Profile(publicKey: key)) != profile.shown
    }

    /// Removes the outdated profiles of everyone else.
    mutating func remove(except people: Set<PublicKey>, _ step: inout CoreStep) {
        for (key, profile) in self.profiles where profile.isDue(step.now) && !people.contains(key) {
            self.profiles[key] = nil
            step.changes.append(.putMemo(MemoName(.profile, key.bytes), nil))
        }
        self.due.formIntersection(people)
    }
}
