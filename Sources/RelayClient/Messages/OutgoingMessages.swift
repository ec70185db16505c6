/// Messages that wait for the socket, bounded in number and bytes.
///
/// Messages of the greeting, which renew subscriptions after each connect, go first and end with their session. The
/// others stay across sessions, in order; one whose write failed may have arrived, and is not sent again.
struct OutgoingMessages: Sendable {
    private var greeting: [WebSocketMessage] = []
    private var queued: [WebSocketMessage] = []
    private(set) var bytes = 0
    private let maximumCount: Int
    private let maximumBytes: Int

    init(maximumCount: Int, maximumBytes: Int) {
        self.maximumCount = maximumCount
        self.maximumBytes = maximumBytes
    }

    /// Number of messages that wait.
    var count: Int { greeting.count + queued.count }
    var isEmpty: Bool { count == 0 }

    /// Appends a message; returns false if there is no room.
    mutating func append(_ message: WebSocketMessage) -> Bool {
        guard admits(message) else { return false }
        queued.append(message)
        bytes += message.bytes
        return true
    }

    /// Starts a session's greeting; returns false if there is no room for all of it.
    mutating func greet(_ messages: [WebSocketMessage]) -> Bool {
        endSession()
        for message in messages {
            guard admits(message) else {
                endSession()
                return false
            }
            greeting.append(message)
            bytes += message.bytes
        }
        return true
    }

    mutating func endSession() {
        for message in greeting { bytes -= message.bytes }
        greeting = []
    }

    /// Removes and returns the next message.
    mutating func next() -> WebSocketMessage? {
        let message: WebSocketMessage
        if !greeting.isEmpty {
            message = greeting.removeFirst()
        } else if !queued.isEmpty {
            message = queued.removeFirst()
        } else {
            return nil
        }
        bytes -= message.bytes
        return message
    }

    private func admits(_ message: WebSocketMessage) -> Bool {
        count < maximumCount && message.bytes <= maximumBytes - bytes
    }
}
