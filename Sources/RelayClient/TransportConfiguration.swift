/// Times and limits of the connections to relays.
public struct TransportConfiguration: Hashable, Sendable {
    // MARK: Times

    /// For name resolution, TCP, TLS and the WebSocket upgrade, each.
    public var connectTimeout: Duration = .seconds(10)
    public var pingInterval: Duration = .seconds(30)
    /// How long a relay may send nothing at all, pongs included, before its connection counts as dead.
    public var deadPeerTimeout: Duration = .seconds(60)
    /// How long a publish waits for a connection and the relay's answer.
    public var publishTimeout: Duration = .seconds(10)
    /// How long the closing handshake may take; of TLS and of the WebSocket, each.
    public var closeTimeout: Duration = .seconds(2)
    public var backoff = Backoff()
    /// A connection that lived this long starts the count of failures anew.
    public var stableAfter: Duration = .seconds(30)
    /// How long the stored events of a request may bring nothing new before their page counts as failed. Checked with
    /// each ping.
    public var pageTimeout: Duration = .seconds(30)
    /// How long a connection outside the set of relays stays open after its last request.
    public var lingering: Duration = .seconds(30)

    // MARK: Limits

    /// Largest incoming message, also the largest frame, in bytes. A larger one ends the connection.
    public var maximumMessageBytes = 1 << 20
    /// Frames one incoming message may come in.
    public var maximumFragments = 1_024
    /// Updates that wait for the consumer before relays are no longer read, and their size in bytes.
    public var bufferedUpdates = 1_024
    public var bufferedBytes = 8 << 20
    /// Published events of one relay that wait for its answer; further ones are unreachable at once.
    public var unansweredEvents = 4_096
    /// Size of the events that one fetch may bring from one relay, in bytes.
    public var fetchedBytes = 64 << 20
    /// Stored events of one request, and their size in bytes, before its page counts as failed.
    public var pageEvents = 100_000
    public var pageBytes = 64 << 20
    /// Events that nobody asked for, repeats included, that a relay may send between two pings, in bytes. More ends
    /// the connection.
    public var surplusBytes = 16 << 20
    /// Relays cap the answer to one request, at 500 or so. One with at least so many events may have been cut off,
    /// and the older ones are asked for.
    public var smallestCap = 50
    /// Events remembered for each subscription, so that each comes out once.
    public var rememberedEvents = 8_192
    /// Signatures remembered as verified, for events that come from several relays.
    public var verifiedSignatures = 16_384

    // MARK: Trust

    /// PEM files of certificate authorities that are trusted besides the system's, for private relays.
    public var trustRootFiles: [String] = []

    public init() {}

    func validate() throws(TransportError) {
        let times = [
            connectTimeout, pingInterval, deadPeerTimeout, publishTimeout, closeTimeout, pageTimeout, backoff.base,
            backoff.cap, backoff.provenCap, backoff.provenFor,
        ]
        guard times.allSatisfy({ $0 > .zero }) else {
            throw TransportError(.badConfiguration, "a time is zero or negative")
        }
        let limits = [
            maximumMessageBytes, maximumFragments, bufferedUpdates, bufferedBytes, unansweredEvents, fetchedBytes,
            pageEvents, pageBytes, surplusBytes, smallestCap, rememberedEvents, verifiedSignatures,
        ]
        guard limits.allSatisfy({ $0 > 0 }), maximumMessageBytes <= Int(UInt32.max) else {
            throw TransportError(.badConfiguration, "a limit is not positive, or a message larger than 4 GiB")
        }
    }
}
