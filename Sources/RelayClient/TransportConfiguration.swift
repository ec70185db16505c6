import Errors

/// Timeouts and limits of the relay connections.
package struct TransportConfiguration: Hashable, Sendable {
    // MARK: Timeouts

    /// Applies to each of name resolution, TCP, TLS and the WebSocket upgrade.
    package var connectTimeout: Duration = .seconds(10)
    package var pingInterval: Duration = .seconds(30)
    /// Time without any data from a relay, pongs included, after which its connection counts as dead.
    package var deadPeerTimeout: Duration = .seconds(60)
    /// Time that a publish waits for a connection and the relay's answer.
    package var publishTimeout: Duration = .seconds(10)
    /// Time for the closing handshake; applies to TLS and to the WebSocket each.
    package var closeTimeout: Duration = .seconds(2)
    package var backoff = Backoff()
    /// Age at which a connection resets the count of failures.
    package var stableAfter: Duration = .seconds(30)
    /// Time without a new stored event after which a request's page counts as failed. Checked with each ping.
    package var pageTimeout: Duration = .seconds(30)
    /// Time that a connection outside the set of relays stays open after its last request.
    package var lingering: Duration = .seconds(30)

    // MARK: Limits

    /// Maximum size of an incoming message, and of a frame, in bytes. A larger one ends the connection.
    package var maximumMessageBytes = 1 << 20
    /// Maximum number of frames of one incoming message.
    package var maximumFragments = 1_024
    /// Maximum number of updates buffered for the consumer, and their size in bytes; reading from relays then stops.
    package var bufferedUpdates = 1_024
    package var bufferedBytes = 8 << 20
    /// Maximum number of published events in flight per relay; further ones fail as unreachable at once.
    package var unansweredEvents = 4_096
    /// Maximum number of bytes of events that one fetch accepts from one relay.
    package var fetchedBytes = 64 << 20
    /// Maximum number of stored events of one request's page, and their size in bytes; a larger page counts as failed.
    package var pageEvents = 100_000
    package var pageBytes = 64 << 20
    /// Bytes of unrequested or repeated events that a relay may send between two pings. More ends the connection.
    package var surplusBytes = 16 << 20
    /// Minimum cap that a relay is assumed to have on one answer (typically some 500). An answer with at least this
    /// many events may have been truncated, and is followed by a request for older ones.
    package var smallestCap = 50
    /// Event ids remembered per subscription, so that each event is delivered once.
    package var rememberedEvents = 8_192
    /// Verified signatures remembered, for events that several relays send.
    package var verifiedSignatures = 16_384

    // MARK: Trust

    /// PEM files of certificate authorities that are trusted besides the system's, for private relays.
    package var trustRootFiles: [String] = []

    package init() {}

    func validate() throws(TransportError) {
        let times = [
            connectTimeout, pingInterval, deadPeerTimeout, publishTimeout, closeTimeout, pageTimeout, backoff.base,
            backoff.cap, backoff.provenCap, backoff.provenFor,
        ]
        guard times.allSatisfy({ $0 > .zero }) else {
            throw TransportError(.badConfiguration, "every duration must be positive")
        }
        let limits = [
            maximumMessageBytes, maximumFragments, bufferedUpdates, bufferedBytes, unansweredEvents, fetchedBytes,
            pageEvents, pageBytes, surplusBytes, smallestCap, rememberedEvents, verifiedSignatures,
        ]
        guard limits.allSatisfy({ $0 > 0 }), maximumMessageBytes <= Int(UInt32.max) else {
            throw TransportError(.badConfiguration, "every limit must be positive, and a message at most 4 GiB")
        }
    }
}
