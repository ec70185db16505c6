public import Nostr

/// The connections to relays, as the core needs them.
///
/// Events that come out were verified: id and signature hold. The same event from several relays, or again after a
/// reconnect, comes out once per subscription as far as the transport remembers; the core copes with repeats.
public protocol RelayTransport: Sendable {
    /// Connects to these relays, keeps trying, and drops all others. Returns at once.
    func setRelays(_ relays: [RelayURL]) async

    /// Names the relays that the configuration chose, in place of those named before: these may be anywhere, and
    /// logins may be made there. Comes before ``setRelays(_:)``. Returns at once.
    func nameRelays(_ relays: [RelayURL]) async

    /// Tries at once to reach all relays that wait for another attempt; other connections stay as they are. Returns at
    /// once.
    func reconnect() async

    /// Opens or replaces a subscription on its relays, now and after every reconnect. Returns at once.
    func subscribe(_ subscription: RelaySubscription) async

    /// Ends a subscription. Returns at once.
    func unsubscribe(_ id: String) async

    /// Publishes to each relay, connecting to those that are not in the set for this purpose.
    ///
    /// The sequence yields one outcome for each relay as it comes and then ends. Leaving it early does not withdraw
    /// the event from the others.
    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport>

    /// Asks relays for stored events once; ends when every relay has answered, failed, or `timeout` has passed.
    func fetch(_ filters: [Filter], from relays: [RelayURL], timeout: Duration) async -> [RelayURL: FetchOutcome]

    /// What comes in, in order; there is one consumer. Ends after ``shutdown()``.
    var updates: AsyncStream<RelayUpdate> { get }

    /// Says goodbye to all relays and returns when the connections are closed.
    func shutdown() async
}

extension RelayTransport {
    /// For transports that never wait.
    public func reconnect() async {}

    /// For transports that go nowhere.
    public func nameRelays(_ relays: [RelayURL]) async {}
}

/// A standing request to relays.
public struct RelaySubscription: Hashable, Sendable {
    /// 1 to 64 characters, chosen by the core.
    public var id: String
    public var filters: [Filter]
    /// The relays to ask; nil for all of the set.
    public var relays: [RelayURL]?
    /// After a reconnect, events are asked for from this many seconds before the newest seen: relays deliver late,
    /// and gift wraps are back-dated.
    public var overlap: Int64

    public init(id: String, filters: [Filter], relays: [RelayURL]? = nil, overlap: Int64) {
        self.id = id
        self.filters = filters
        self.relays = relays
        self.overlap = overlap
    }
}

/// What one relay said to a published event.
public struct PublishReport: Hashable, Sendable {
    public enum Outcome: Hashable, Sendable {
        /// `OK true`, or a refusal as duplicate: the relay has it.
        case accepted
        /// `OK false` with the relay's message.
        case refused(String)
        /// No answer in time, or no connection; the reason in words.
        case unreachable(String)
    }

    public let relay: RelayURL
    public let outcome: Outcome

    public init(relay: RelayURL, outcome: Outcome) {
        self.relay = relay
        self.outcome = outcome
    }
}

/// What one relay answered to a one-time request.
public enum FetchOutcome: Hashable, Sendable {
    /// All stored events that match, verified, newest first.
    case events([Event])
    /// No answer in time, no connection, or CLOSED; the reason in words.
    case failed(String)
}

/// Something that happened at a relay.
public enum RelayUpdate: Hashable, Sendable {
    /// A verified event for a subscription.
    case event(relay: RelayURL, subscription: String, Event)
    /// The relay has sent all that it had stored for a subscription.
    case endOfStoredEvents(relay: RelayURL, subscription: String)
    /// The relay ended a subscription; the transport asks again after the next reconnect.
    case closed(relay: RelayURL, subscription: String, message: String)
    case state(relay: RelayURL, RelayConnectionState)
    /// The relay has told the time: its clock less this machine's, in seconds.
    case clock(relay: RelayURL, offset: Int64)
    /// An event, message or frame that was refused, with a short reason fit for a counter.
    case refused(relay: RelayURL, reason: String)
}

/// Where a connection stands.
public enum RelayConnectionState: Hashable, Sendable {
    case disconnected
    case connecting
    case connected
    /// Waiting before the next attempt, with the reason of the last failure.
    case retrying(attempt: Int, reason: String)
}
