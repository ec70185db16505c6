/// One connection to the daemon: the source of commands and the destination of their replies.
package final class DaemonClient: Sendable {
    package enum Origin: Sendable {
        /// Standard input and output, or a child's. Receives every event; a slow reader applies back-pressure to the
        /// daemon.
        case standard
        /// The Unix socket. Receives the events that it subscribed to; a slow reader is disconnected.
        case socket
        /// A bot that runs as an external program. Receives events in order; a slow reader is not disconnected, its
        /// events are delayed.
        case program
    }

    package let origin: Origin
    /// Lines for the owner of the connection to write.
    package let lines: LineQueue

    /// - Parameter limit: maximum number of bytes queued for the client.
    package init(_ origin: Origin, limit: Int = 1 << 20) {
        self.origin = origin
        self.lines = LineQueue(limit: limit)
    }

    var id: ObjectIdentifier { ObjectIdentifier(self) }
}
