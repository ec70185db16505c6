import MLS
import Nostr

/// Public profiles (kind 0) of all people that this account deals with, fetched in batches and stored.
extension CoreModel {
    /// Seconds after which a profile is fetched again: if every relay had answered, and if not.
    static let profileLifetime: Int64 = 86_400
    static let partialLifetime: Int64 = 3600
    /// Seconds within which a profile is not fetched twice, even on an urgent request.
    static let profilePause: Int64 = 60
    /// The maximum number of profiles stored.
    static let maximumProfiles = 5000
    /// The maximum number of people per request.
    static let profilesPerRequest = 100

    // MARK: Start

    /// Restores a stored profile; false if it is unreadable.
    mutating func restoreProfile(_ name: MemoName, _ memo: Secret) -> Bool {
        guard let key = try? PublicKey(bytes: name.key), let profile = KnownProfile(of: key, memo: memo) else {
            return false
        }
        self.people.profiles[key] = profile
        return true
    }

    // MARK: Requests

    /// All people whose names may be shown, without duplicates: the opened profile, members, inviters and followed
    /// people, up to the number of profiles that are stored.
    var everybody: [PublicKey] {
        let members = self.state.chatList.lazy.flatMap(\.members).map(\.publicKey)
        let groups: [any Sequence<PublicKey>] = [
            CollectionOfOne(self.state.peerProfile?.profile.publicKey).compactMap { $0 }, members,
            self.state.invites.lazy.map(\.inviter), self.state.followList.lazy.map(\.profile.publicKey),
        ]
        var seen: Set<PublicKey> = [self.account.publicKey]
        var found: [PublicKey] = []
        for group in groups {
            for key in group where seen.insert(key).inserted {
                guard found.count < Self.maximumProfiles else { return found }
                found.append(key)
            }
        }
        return found
    }

    /// Requests the profiles of these people that are unknown or outdated.
    ///
    /// - Parameter isUrgent: whether recent profiles are fetched again too.
    mutating func wantProfiles(
        of keys: some Sequence<PublicKey>, isUrgent: Bool = false, _ step: inout CoreStep
    ) {
        guard self.configuration.readsProfiles || isUrgent else { return }
        for key in keys where key != self.account.publicKey && self.people.search?.peers.contains(key) != true {
            let known = self.people.profiles[key]
            let isWanted = known.map { isUrgent && step.now - $0.fetchedAt >= Self.profilePause || $0.isDue(step.now) }
            if isWanted ?? true { self.people.due.insert(key) }
        }
        self.askForProfiles(&step)
    }

    /// Sends the next request if none is in progress and a relay is connected.
    mutating func askForProfiles(_ step: inout CoreStep) {
        let relays = self.configuration.relays
        guard self.people.search == nil, !self.people.due.isEmpty,
            self.state.relays.contains(where: { $0.connection == .connected && relays.contains($0.url) })
        else { return }
        let peers = Array(self.people.due.sorted().prefix(Self.profilesPerRequest))
        self.people.due.subtract(peers)
        self.people.lastSearch += 1
        let number = self.people.lastSearch
        self.people.search = ProfileSearch(number: number, peers: Set(peers), open: Set(relays))
        for relay in Set(relays).sorted() {
            step.effects.append(
                .fetch(.profiles(search: number), [Filter(authors: peers, kinds: [.metadata])], from: [relay]))
        }
    }

    // MARK: Answers

    mutating func takeProfiles(
        ofSearch number: Int, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        guard var search = self.people.search, search.number == number else { return }
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
        self.people.search = search
        self.keepProfiles(found, of: search, &step)
        if search.open.isEmpty { self.endSearch(search, &step) }
    }

    private mutating func keepProfiles(
        _ found: [PublicKey: ProfileSource], of search: ProfileSearch, _ step: inout CoreStep
    ) {
        let isOver = search.open.isEmpty && search.answered > 0
        if self.people.profiles.count + search.peers.count > Self.maximumProfiles { self.forgetStrangers(&step) }
        var changed: Set<PublicKey> = []
        for key in isOver ? search.peers.sorted() : found.keys.sorted() {
            let known = self.people.profiles[key]?.source
            var source = known
            if let new = found[key], new.replaces(known) { source = new }
            guard isOver || source != known else { continue }
            let profile = KnownProfile(
                of: key, source: source, fetchedAt: step.now, isComplete: isOver && search.failed == 0)
            if self.put(profile, of: key, &step) { changed.insert(key) }
        }
        self.refreshNames(of: changed)
    }

    private mutating func endSearch(_ search: ProfileSearch, _ step: inout CoreStep) {
        self.people.search = nil
        if search.answered > 0 {
            self.askForProfiles(&step)
        } else {
            // They are requested again when a relay connects, or with the next request.
            self.people.due.formUnion(search.peers)
        }
    }

    /// Stores a profile; true if its shown fields changed.
    mutating func put(_ profile: KnownProfile, of key: PublicKey, _ step: inout CoreStep) -> Bool {
        let known = self.people.profiles[key]
        let hasRoom = self.people.profiles.count < Self.maximumProfiles || key == self.account.publicKey
        guard known != profile, known != nil || hasRoom else { return false }
        self.people.profiles[key] = profile
        step.changes.append(.putMemo(MemoName(.profile, key.bytes), profile.memo))
        return (known?.shown ?? AppState.Profile(publicKey: key)) != profile.shown
    }

    // MARK: Maintenance

    /// Fetches outdated profiles, and drops those of people who are no longer shown.
    mutating func maintainPeople(_ step: inout CoreStep) {
        self.forgetStrangers(&step)
        self.notePeople(&step)
    }

    /// Requests everything that is due: after the start, when a relay reconnects, and periodically.
    mutating func notePeople(_ step: inout CoreStep) {
        let isRead = self.people.read.map { $0.isComplete && step.now - $0.at < Self.profileLifetime }
        let isConnected = self.state.relays.contains { $0.connection == .connected }
        if isConnected, isRead != true { self.readOwn(&step) }
        self.wantProfiles(of: self.everybody, &step)
    }

    private mutating func forgetStrangers(_ step: inout CoreStep) {
        let everybody = Set(self.everybody + [self.account.publicKey])
        for (key, profile) in self.people.profiles where profile.isDue(step.now) && !everybody.contains(key) {
            self.people.profiles[key] = nil
            step.changes.append(.putMemo(MemoName(.profile, key.bytes), nil))
        }
        self.people.due.formIntersection(everybody)
    }
}
