import MLS
import Nostr

/// Permits one live copy per account: of two that share a relay, the one with the earlier restore stops
/// (``CopyNotice``).
struct CopyFence: Sendable {
    /// Seconds by which the time of another copy's notice may be ahead of the clock.
    private static let maximumLead: Int64 = 3600

    /// The start of the search for other copies, in Unix milliseconds; nil while this copy does not search.
    private(set) var startedAt: Int64?
    /// Relays to which this copy's notice was sent, after they were queried for others.
    private var announced: Set<RelayURL> = []
    /// Notices of each relay that are not decrypted yet: a remote signer may have the key.
    private var unread: [RelayURL: Set<EventID>] = [:]
    /// Recent notices of this copy itself.
    private var own: Set<EventID> = []
    /// The time of the newest notice.
    private var newest: UnixTime = 0

    /// Whether events of groups must wait, since no relay has been queried for other copies yet.
    var isClosed: Bool { self.startedAt != nil && self.announced.isEmpty }
    /// The relays that have this copy's notice, in order.
    var announcedRelays: [RelayURL] { self.announced.sorted() }

    mutating func start(atMilliseconds time: Int64) { self.startedAt = time }

    // MARK: Notices of other copies

    /// Whether a live notice is to be decrypted.
    func admits(_ id: EventID) -> Bool { self.startedAt != nil && !self.own.contains(id) }

    /// Records a relay's events. Returns the notices to decrypt.
    mutating func receive(_ events: [Event], from relay: RelayURL) -> [Event] {
        let notices = events.filter { $0.kind == .applicationData && !self.own.contains($0.id) }
        self.unread[relay, default: []].formUnion(notices.map(\.id))
        return notices
    }

    /// Records that a notice was read, or was invalid.
    mutating func endNotice(_ id: EventID, at relay: RelayURL) { self.unread[relay]?.remove(id) }

    /// Whether a relay's notices were all read and this copy's own is not on it yet.
    func isDue(at relay: RelayURL) -> Bool {
        self.unread[relay]?.isEmpty == true && !self.announced.contains(relay)
    }

    /// The reaction to another copy's notice.
    enum Verdict: Hashable {
        case ignore
        /// An earlier copy has overwritten this copy's notice on these relays.
        case announce([RelayURL])
        /// The other copy is later: this one stops.
        case yield
    }

    mutating func verdict(
        on notice: CopyNotice, createdAt: UnixTime, isLive: Bool, instance: StoredInstance, now: UnixTime
    ) -> Verdict {
        guard let startedAt else { return .ignore }
        self.newest = max(self.newest, min(createdAt, now + Self.maximumLead))
        let mayAnswer = isLive && !self.announced.isEmpty
        if notice.instance == instance.id {
            // A directory that was copied by hand: the copy that started last continues. Notices of an earlier run of
            // this same copy, which relays have stored, do not count.
            return mayAnswer && notice.startedAt > startedAt ? .yield : .ignore
        }
        if Self.isLater(notice, than: instance) { return .yield }
        return mayAnswer ? .announce(self.announcedRelays) : .ignore
    }

    private static func isLater(_ notice: CopyNotice, than instance: StoredInstance) -> Bool {
        guard notice.generation == instance.generation else { return notice.generation > instance.generation }
        return instance.id.lexicographicallyPrecedes(notice.instance)
    }

    // MARK: Own notices

    /// Records that a notice is sent to relays. Returns its time; nil while this copy does not search for
    /// others.
    mutating func announce(to relays: [RelayURL], now: UnixTime) -> UnixTime? {
        guard self.startedAt != nil else { return nil }
        self.newest = max(now, self.newest + 1)
        self.announced.formUnion(relays)
        return self.newest
    }

    /// Remembers a notice of this copy; each relay has one. Returns the stored form of all.
    mutating func rememberOwn(_ id: EventID, relayCount: Int) -> Secret {
        if self.own.count > relayCount + 8 { self.own = [] }
        self.own.insert(id)
        return Self.memo(self.own.sorted())
    }

    /// Reads the stored own notices; false if they are malformed.
    mutating func restoreOwn(_ memo: Secret) -> Bool {
        guard let ids = Self.ids(memo: memo) else { return false }
        self.own = ids
        return true
    }

    // MARK: Stored form: JSON, version 1

    static func memo(_ ids: some Sequence<EventID>) -> Secret {
        Secret((["v": 1, "ids": .array(ids.map { .string($0.hex) })] as JSONValue).json())
    }

    static func ids(memo: Secret) -> Set<EventID>? {
        guard let json = JSONValue(memo: memo), let list = json["ids"]?.array else { return nil }
        let ids = list.compactMap { $0.string.flatMap { try? EventID(hex: $0) } }
        return ids.count == list.count ? Set(ids) : nil
    }
}
