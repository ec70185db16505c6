/// What one client may ask of the relay, and how much memory it may hold.
public struct RelayLimits: Hashable, Sendable {
    /// Largest WebSocket message, also the largest frame, in bytes.
    public var messageBytes = 1 << 20
    /// TCP connections at one time, WebSocket or HTTP.
    public var connections = 1_024
    public var subscriptionsPerConnection = 64
    /// Filters in one REQ or COUNT.
    public var filtersPerRequest = 20
    /// Values of all lists of one filter together.
    public var valuesPerFilter = 2_000
    /// Largest `limit` that is honoured; a larger one is lowered to this.
    public var eventsPerFilter = 500
    /// `limit` of a filter that names none.
    public var defaultEventsPerFilter = 500
    /// UTF-8 bytes of a subscription id; NIP-01 says 64 characters.
    public var subscriptionIDBytes = 64
    public var tagsPerEvent = 2_000
    /// How many seconds `created_at` may lie ahead of the clock; nil for no bound.
    public var secondsIntoFuture: Int64?
    /// EVENT, REQ, COUNT and AUTH messages one connection may send per second, twice as many in a burst; nil for no
    /// bound.
    public var messagesPerSecond: Int? = 100
    /// The same for all connections of one address together, where an HTTP request counts as a message.
    public var messagesPerSecondPerAddress: Int? = 400
    /// TCP connections of one address at one time; nil for no bound besides ``connections``.
    public var connectionsPerAddress: Int? = 256
    /// Whether the three limits above also hold for loopback addresses, from which programs of this machine connect.
    public var limitsLoopback = false
    /// EVENT messages of one connection that wait for their commit before its socket is no longer read.
    public var pendingEventsPerConnection = 256
    /// Bytes of live events that may wait for a slow client; beyond it the connection is closed.
    public var backlogBytes = 8 << 20
    /// Bytes of stored events one REQ may bring; the oldest beyond it are left out.
    public var answerBytes = 64 << 20
    /// How long a client may accept no bytes at all while some wait for it.
    public var stallTimeout: Duration = .seconds(30)
    /// How long a connection may stay silent before the upgrade, and between pings after it.
    public var idleTimeout: Duration = .seconds(60)

    /// Disk quota of the event database in bytes: new events are refused beyond it, except deletions, which may use a
    /// sixteenth more.
    public var databaseBytes: Int64 = 16 << 30
    /// Disk quota of the media store in bytes, counted in whole blocks of 4 KiB and with uploads in flight.
    public var mediaBytes: Int64 = 16 << 30
    /// Bytes of one file in the media store; by default the most that MIP-04 allows, encrypted.
    public var blobBytes = (100 << 20) + 16

    public init() {}
}
