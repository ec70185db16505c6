/// Limits on a client's requests and on the memory it may use.
package struct RelayLimits: Hashable, Sendable {
    /// Maximum size of a WebSocket message, and of a frame, in bytes.
    package var messageBytes = 1 << 20
    /// Simultaneous TCP connections, WebSocket or HTTP.
    package var connections = 1_024
    package var subscriptionsPerConnection = 64
    /// Filters in one REQ or COUNT.
    package var filtersPerRequest = 20
    /// Values in all lists of one filter, in total.
    package var valuesPerFilter = 2_000
    /// Maximum `limit` of a filter; a larger one is lowered to this.
    package var eventsPerFilter = 500
    /// `limit` of a filter that names none.
    package var defaultEventsPerFilter = 500
    /// UTF-8 bytes of a subscription id; NIP-01 says 64 characters.
    package var subscriptionIDBytes = 64
    package var tagsPerEvent = 2_000
    /// Maximum number of seconds that `created_at` may be ahead of the clock; nil for no bound.
    package var secondsIntoFuture: Int64?
    /// EVENT, REQ, COUNT and AUTH messages per second of one connection, with bursts of twice as many; nil for no
    /// bound.
    package var messagesPerSecond: Int? = 100
    /// The same for all connections of one address together; an HTTP request counts as a message.
    package var messagesPerSecondPerAddress: Int? = 400
    /// Simultaneous TCP connections of one address; nil for no bound besides ``connections``.
    package var connectionsPerAddress: Int? = 256
    /// Whether the three limits above also apply to loopback addresses, from which local programs connect.
    package var limitsLoopback = false
    /// EVENT messages of one connection that may await their commit before reading from its socket stops.
    package var pendingEventsPerConnection = 256
    /// Bytes of live events queued for a slow client; beyond it the connection is closed.
    package var backlogBytes = 8 << 20
    /// Bytes of stored events in the answer to one REQ; the oldest ones beyond it are left out.
    package var answerBytes = 64 << 20
    /// Time that a client may accept no bytes while some are queued for it.
    package var stallTimeout: Duration = .seconds(30)
    /// Time that a connection may be silent before the upgrade, and between pings after it.
    package var idleTimeout: Duration = .seconds(60)

    /// Limits of the call relay.
    package var calls = CallLimits()

    /// Disk quota of the event database in bytes: beyond it new events are refused, except deletions, which may use a
    /// sixteenth more.
    package var databaseBytes: Int64 = 16 << 30
    /// Disk quota of the media store in bytes, counted in blocks of 4 KiB and including uploads in flight.
    package var mediaBytes: Int64 = 16 << 30
    /// Maximum size of a file in the media store, in bytes; by default the maximum of MIP-04, encrypted.
    package var blobBytes = (100 << 20) + 16

    package init() {}
}
