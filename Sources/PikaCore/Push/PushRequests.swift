import MLS
import Marmot
import Nostr

/// Requests to push servers to wake the devices of members (kind 446). Not stored before their events are made: a
/// notification that is lost with the process is not repeated.
struct PushRequests: Sendable {
    /// The maximum number of servers asked for one message: those that the most members state, then those of the most
    /// tokens. Anyone can name any server.
    static let maximumServers = 8
    /// The maximum number of requests in the outbox, below the number that relays may leave unacknowledged
    /// (``PublishQueue/window``), so that other events of the account are not held up. Further ones are dropped.
    static let maximumQueued = 16
    /// The number of requests in a half-full outbox from which on those of the same server are dropped.
    static let maximumQueuedOfServer = 2
    /// The maximum number of servers whose relays are being searched. The requests of further ones are dropped.
    private static let maximumSearches = 16
    /// The maximum number of groups whose routes wait for one server. The requests of further ones are dropped.
    private static let maximumWaitingGroups = 16
    /// Milliseconds in which further messages of a group join one notification.
    private static let batching: ClosedRange<Int64> = 1000...Push.maximumDelay
    /// Each notification wakes all devices of its group.
    private static let limit = RateLimit(10, per: .seconds(60))
    /// Seconds for which a server's list of relays is used.
    private static let lifetime: Int64 = 86_400
    /// Seconds before a search without result is repeated.
    private static let pause: Int64 = 600

    private struct ServerRelays: Sendable {
        /// Empty if no list was found.
        let relays: [RelayURL]
        /// The time of the search.
        let readAt: UnixTime

        func isCurrent(_ now: UnixTime) -> Bool {
            let lifetime = self.relays.isEmpty ? PushRequests.pause : PushRequests.lifetime
            return (0..<lifetime).contains(now.seconds(since: self.readAt))
        }
    }

    /// The groups of messages that are being sent, by the key under which a message is marked as seen. The members
    /// are notified once a relay has the message.
    private var messages = RecentEntries<EventID, GroupID>(capacity: 256)
    /// Groups whose members are to be notified, and when, in Unix milliseconds.
    private var due: [GroupID: Int64] = [:]
    private var limiter = RateLimiter<GroupID>(capacity: 1_024)
    private var lists = RecentEntries<PublicKey, ServerRelays>(capacity: 256)
    /// The routes that wait for the relays of their server, by group.
    private var searches: [PublicKey: [GroupID: [PushRoute]]] = [:]

    // MARK: Messages

    /// Records that a message must be notified once a relay has it.
    mutating func expect(_ message: EventID, in groupID: GroupID) { self.messages[message] = groupID }

    /// Schedules the notification of a message's group, within the limit; its messages of the next seconds join it.
    mutating func schedule(_ message: EventID, _ step: inout CoreStep) {
        guard let groupID = self.messages[message] else { return }
        self.messages[message] = nil
        guard self.due[groupID] == nil else { return }
        guard self.limiter.consume(groupID, Self.limit, nowMilliseconds: step.nowMilliseconds) else {
            step.effects.append(.note(.limited(scope: "push")))
            return
        }
        let time = step.nowMilliseconds + Int64.random(in: Self.batching, using: &step.random)
        self.due[groupID] = time
        step.effects.append(.wake(.push, atMilliseconds: time))
    }

    /// Removes and returns the groups whose members are to be notified now, in order.
    mutating func removeDue(_ nowMilliseconds: Int64) -> [GroupID] {
        let groups = self.due.filter { Push.isDue($0.value, nowMilliseconds) }.keys.sorted()
        for groupID in groups { self.due[groupID] = nil }
        return groups
    }

    /// When the next group's members are to be notified, in Unix milliseconds.
    var nextDue: Int64? { self.due.values.min() }

    // MARK: Relays of servers

    /// Returns the relays of a server. If they are unknown, keeps the routes and searches for the server's list, on the
    /// relays that the routes name and on this account's.
    ///
    /// - Parameter routes: the group's routes of this server.
    mutating func relays(
        of server: PublicKey, for routes: [PushRoute], in groupID: GroupID, _ configuration: CoreConfiguration,
        _ step: inout CoreStep
    ) -> [RelayURL]? {
        if let known = self.lists[server], known.isCurrent(step.now) { return known.relays }
        if let waiting = self.searches[server] {
            guard waiting[groupID] != nil || waiting.count < Self.maximumWaitingGroups else {
                step.effects.append(.note(.limited(scope: "push")))
                return nil
            }
            self.searches[server]?[groupID] = routes
            return nil
        }
        guard self.searches.count < Self.maximumSearches else {
            step.effects.append(.note(.limited(scope: "push")))
            return nil
        }
        let named = Self.distinct(routes.map(\.relay)).prefix(configuration.maximumPeerRelays)
        let relays = Self.distinct(Array(named) + configuration.homeRelays)
        guard !relays.isEmpty else { return nil }
        self.searches[server] = [groupID: routes]
        step.effects.append(
            .fetch(.pushServer(server), [Filter(authors: [server], kinds: [.inboxRelays])], from: relays))
        return nil
    }

    /// Ends a search; returns the relays and the routes that waited for them, by group, or nil if no search is in
    /// progress.
    mutating func endSearch(
        of server: PublicKey, _ outcomes: [RelayURL: FetchOutcome], _ configuration: CoreConfiguration, now: UnixTime
    ) -> (relays: [RelayURL], groups: [[PushRoute]])? {
        guard let groups = self.searches.removeValue(forKey: server) else { return nil }
        var events: [Event] = []
        for case .events(let found) in outcomes.values {
            events += found.filter { $0.pubkey == server && $0.kind == .inboxRelays && (try? $0.verify()) != nil }
        }
        let all = RelayListEvents.relays(.inboxRelays, of: server, in: events) ?? []
        let relays = Array(Self.distinct(all).prefix(configuration.maximumPeerRelays))
        self.lists[server] = ServerRelays(relays: relays, readAt: now)
        return (relays, groups.sorted { $0.key < $1.key }.map(\.value))
    }

    private static func distinct(_ relays: some Sequence<RelayURL>) -> [RelayURL] {
        var seen: Set<RelayURL> = []
        return relays.filter { seen.insert($0).inserted }
    }
}
