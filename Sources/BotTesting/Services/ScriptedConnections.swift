public import BotKit
import Synchronization

/// WebSocket connections for tests: the test connects, delivers messages and reads what was sent.
public final class ScriptedConnections: BotConnections {
    private let all = Mutex<[ScriptedConnection]>([])

    /// Creates connections to no server.
    public init() {}

    /// The connections that bots have opened, in order.
    public var connections: [ScriptedConnection] { all.withLock { $0 } }

    /// Creates a connection for the test to control.
    public func connection(
        _ request: BotConnectionRequest, _ handlers: BotConnectionHandlers
    ) throws(BotError) -> any BotConnection {
        let connection = ScriptedConnection(request, handlers)
        all.withLock { $0.append(connection) }
        return connection
    }
}

/// A connection that a test controls.
public final class ScriptedConnection: BotConnection {
    private struct Content {
        var state = BotConnectionState.disconnected
        var queued: [BotConnectionMessage] = []
        var sent: [BotConnectionMessage] = []
    }

    /// The request of the bot.
    public let request: BotConnectionRequest
    private let handlers: BotConnectionHandlers
    private let content = Mutex(Content())
    private let ends: AsyncStream<Never>
    private let end: AsyncStream<Never>.Continuation

    init(_ request: BotConnectionRequest, _ handlers: BotConnectionHandlers) {
        self.request = request
        self.handlers = handlers
        (ends, end) = AsyncStream.makeStream()
    }

    /// The messages that have reached the server, in order.
    public var sent: [BotConnectionMessage] { content.withLock { $0.sent } }

    /// The state that the test has set.
    public var state: BotConnectionState { content.withLock { $0.state } }

    /// Connects: the bot's first messages and the queued ones reach the server.
    public func connect() async {
        let greeting = await handlers.onConnect()
        content.withLock { content in
            content.state = .connected
            content.sent += greeting + content.queued
            content.queued = []
        }
        handlers.onState(.connected)
    }

    /// Loses the connection.
    public func disconnect(_ reason: String = "gone") {
        let state = BotConnectionState.retrying(attempt: 1, reason: reason)
        content.withLock { $0.state = state }
        handlers.onState(state)
    }

    /// Delivers a message of the server, and returns when the bot has handled it.
    public func deliver(_ message: BotConnectionMessage) async { await handlers.onMessage(message) }

    /// Sends while connected; otherwise queues within the request's limits.
    public func send(_ message: BotConnectionMessage) async throws(BotError) {
        let isQueued = content.withLock { content in
            if content.state == .connected {
                content.sent.append(message)
                return true
            }
            let waiting = content.queued.reduce(Self.size(message)) { $0 + Self.size($1) }
            guard content.queued.count < request.queuedMessages, waiting <= request.queuedBytes else { return false }
            content.queued.append(message)
            return true
        }
        guard isQueued else { throw BotError(.limitReached, "the queue of the connection is full") }
    }

    /// Waits for ``stop()`` or cancellation.
    public func run() async {
        for await _ in ends {}
        content.withLock { $0.state = .disconnected }
    }

    /// Ends ``run()``.
    public func stop() async { end.finish() }

    private static func size(_ message: BotConnectionMessage) -> Int {
        switch message {
        case .text(let text): text.utf8.count
        case .binary(let bytes): bytes.count
        }
    }
}
