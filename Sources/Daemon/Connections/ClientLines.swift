import Logging
import Metrics

/// Writes lines to clients: waits for the standard client, and disconnects sockets that read too slowly.
struct ClientLines: Sendable {
    let standard: DaemonClient
    let logger: Logger

    /// Writes recorded events to sessions. Returns whether the standard client's queue accepted all of them.
    ///
    /// - Parameter first: cursor of the first event.
    func write(_ events: [DaemonEvent], from first: Int64, to listeners: [ClientSessions.Session]) async -> Bool {
        var standardLines: [String] = []
        for (offset, event) in events.enumerated() {
            Self.count(event)
            for session in listeners {
                guard let line = session.line(of: event, cursor: first + Int64(offset)) else { continue }
                if session.client.origin == .standard {
                    standardLines.append(line)
                } else {
                    self.offer(line, to: session.client)
                }
            }
        }
        var isAccepted = true
        for line in standardLines { isAccepted = await self.standard.lines.put(line) }
        return isAccepted
    }

    /// Writes a transient event to these clients and the standard one.
    func writeTransient(_ event: DaemonEvent, to listeners: [DaemonClient]) async {
        Self.count(event)
        let line = event.line()
        for client in listeners {
            if client.origin == .program { client.lines.offer(line) } else { self.offer(line, to: client) }
        }
        await self.standard.lines.put(line)
    }

    /// Writes a line to a socket, or disconnects it.
    func offer(_ line: String, to client: DaemonClient) {
        let isOpen = !client.lines.isClosed
        let farewell = DaemonReply.error(
            requestID: nil, DaemonFailure(.slowClient, "disconnected: the client reads too slowly")
        ).line
        if !client.lines.offer(line, farewell: farewell), isOpen {
            Counter(label: "daemon_clients_dropped_total", dimensions: [("reason", "slow")]).increment()
            self.logger.warning("disconnected a client that reads too slowly")
        }
    }

    private static func count(_ event: DaemonEvent) {
        Counter(label: "daemon_events_total", dimensions: [("type", event.type)]).increment()
    }
}
