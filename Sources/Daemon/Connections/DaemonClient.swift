/// One connection to the daemon: where its commands come from and its replies go.
public final class DaemonClient: Sendable {
    public enum Origin: Sendable {
        /// Standard input and output, or a child's: it hears every event, and makes the daemon wait if it does not read.
        case standard
        /// The Unix socket: it hears what it asked for, and is dropped if it does not read.
        case socket
        /// A program that is a bot: it is told of one event after the other, and slowed down, not dropped.
        case program
    }

    public let origin: Origin
    /// To be written by whoever holds the connection.
    public let lines: LineQueue

    /// - Parameter limit: bytes that wait for the client at most.
    public init(_ origin: Origin, limit: Int = 1 << 20) {
        self.origin = origin
        self.lines = LineQueue(limit: limit)
    }

    var id: ObjectIdentifier { ObjectIdentifier(self) }
}

/// What the daemon knows of a connection.
struct DaemonSession: Sendable {
    let client: DaemonClient
    /// Whether it said `hello`.
    var isExtended = false
    var scope: DaemonToken.Scope?
    /// Whether events are wanted, and whether they go out as they happen: not while old ones are being sent again.
    var subscribes: Bool
    var isLive: Bool
    /// The event after which old ones are to be sent again.
    var replayFrom: Int64?

    init(_ client: DaemonClient) {
        self.client = client
        self.subscribes = client.origin != .socket
        self.isLive = self.subscribes
    }
}
