public import Nostr

/// The connections to relays, as the core needs them.
///
/// Delivered events are verified: id and signature hold. For each subscription the transport drops events that other
/// relays have sent or that are repeated after a reconnect. It remembers a limited number; the core tolerates repeats.
public protocol RelayTransport: Sendable {
    /// Connects to these relays, retries failed ones, and drops all others. Returns at once.
    func setRelays(_ relays: [RelayURL]) async

    /// Sets the relays that the configuration names, replacing earlier ones. They may have any address, even private,
    /// and the transport may authenticate to them (NIP-42). Must precede ``setRelays(_:)``. Returns at once.
    func setConfiguredRelays(_ relays: [RelayURL]) async

    /// Retries at once all relays that wait for their next attempt; other connections are unaffected. Returns at once.
    func reconnect() async

    /// Opens or replaces a subscription on its relays, now and after every reconnect. Returns at once.
    func subscribe(_ subscription: RelaySubscription) async

    /// Ends a subscription. Returns at once.
    func unsubscribe(_ id: String) async

    /// Publishes to each relay, connecting to relays outside the set for this purpose.
    ///
    /// The sequence yields one outcome per relay as it arrives, then ends. Leaving it early does not withdraw the event
    /// from the other relays.
    func publish(_ event: Event, to relays: [RelayURL]) async -> AsyncStream<PublishReport>

    /// Asks relays for stored events once; returns when every relay has answered or failed, or `timeout` has passed.
    func fetch(_ filters: [Filter], from relays: [RelayURL], timeout: Duration) async -> [RelayURL: FetchOutcome]

    /// Updates from the relays, in order; one consumer. Ends after ``shutdown()``.
    var updates: AsyncStream<RelayUpdate> { get }

    /// Offers each update to `receiver` first, while the consumer of ``updates`` waits and none is buffered: an accepted
    /// one saves a hop. The receiver must return quickly, and refuses an update that has to wait.
    func offerUpdates(to receiver: @escaping @Sendable (RelayUpdate) -> Bool)

    /// Closes all connections; returns when they are closed.
    func shutdown() async
}

extension RelayTransport {
    /// Does nothing: for transports that never wait between attempts.
    public func reconnect() async {}

    /// Does nothing: for transports without a network.
    public func setConfiguredRelays(_ relays: [RelayURL]) async {}

    /// Does nothing: all updates go to the consumer.
    public func offerUpdates(to receiver: @escaping @Sendable (RelayUpdate) -> Bool) {}
}

/// A standing subscription on relays.
public struct RelaySubscription: Hashable, Sendable {
    /// 1 to 64 characters, chosen by the core.
    public var id: String
    /// The NIP-01 filters; an event must match one of them.
    public var filters: [Filter]
    /// The relays to subscribe on; nil for all of the set.
    public var relays: [RelayURL]?
    /// Seconds before the newest event seen from which a reconnect asks again: relays deliver late, and gift wraps are
    /// back-dated.
    public var overlap: Int64
    /// Whether a relay's new event that was published to it on the same connection counts as the relay's `OK` and is not
    /// delivered. Stored events are always delivered.
    public var omitsEchoes: Bool

    /// Creates a subscription.
    public init(
        id: String, filters: [Filter], relays: [RelayURL]? = nil, overlap: Int64, omitsEchoes: Bool = false
    ) {
        self.id = id
        self.filters = filters
        self.relays = relays
        self.overlap = overlap
        self.omitsEchoes = omitsEchoes
    }
}

/// The answer of one relay to a published event.
public struct PublishReport: Hashable, Sendable {
    /// A relay's answer, or the lack of one.
    public enum Outcome: Hashable, Sendable {
        /// `OK true`, or a refusal as a duplicate: the relay has the event.
        case accepted
        /// `OK false` with the relay's message.
        case refused(String)
        /// No answer in time, or no connection; the reason as text.
        case unreachable(String)
    }

    /// The relay that the event was published to.
    public let relay: RelayURL
    /// The relay's answer.
    public let outcome: Outcome

    /// Creates a report.
    public init(relay: RelayURL, outcome: Outcome) {
        self.relay = relay
        self.outcome = outcome
    }
}

/// The answer of one relay to a one-time request.
public enum FetchOutcome: Hashable, Sendable {
    /// All matching stored events, verified, newest first.
    case events([Event])
    /// No answer in time, no connection, or CLOSED; the reason as text.
    case failed(String)
}

/// An update from a relay.
public enum RelayUpdate: Hashable, Sendable {
    /// A verified event for a subscription.
    case event(relay: RelayURL, subscription: String, Event)
    /// The relay has sent all stored events of a subscription (EOSE).
    case endOfStoredEvents(relay: RelayURL, subscription: String)
    /// The relay closed a subscription; the transport subscribes again after the next reconnect.
    case closed(relay: RelayURL, subscription: String, message: String)
    /// The state of a connection changed.
    case state(relay: RelayURL, RelayConnectionState)
    /// The relay's clock offset: its time minus this machine's, in seconds.
    case clock(relay: RelayURL, offset: Int64)
    /// A refused event, message or frame, with a short reason usable as a metric label.
    case refused(relay: RelayURL, reason: String)
}

/// The state of a connection.
public enum RelayConnectionState: Hashable, Sendable {
    /// Not connected, and no attempt is scheduled.
    case disconnected
    /// An attempt is in progress.
    case connecting
    /// The connection is open.
    case connected
    /// Waiting before the next attempt, with the reason of the last failure.
    case retrying(attempt: Int, reason: String)
}
