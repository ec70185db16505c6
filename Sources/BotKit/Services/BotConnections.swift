/// WebSocket connections of bots.
public protocol BotConnections: Sendable {
    /// Creates a connection that is not open yet. Throws `BotError.Code.requestFailed` for a malformed request.
    func connection(
        _ request: BotConnectionRequest, _ handlers: BotConnectionHandlers
    ) throws(BotError) -> any BotConnection
}

/// A WebSocket connection that is made again whenever it is lost.
///
/// Attempts back off exponentially with jitter. A ping is sent every 30 seconds, and a peer that sends nothing for 60
/// seconds counts as lost.
public protocol BotConnection: Sendable {
    /// The current state.
    var state: BotConnectionState { get async }

    /// Queues a message, also while the connection is lost. Throws `BotError.Code.limitReached` if the queue is full.
    func send(_ message: BotConnectionMessage) async throws(BotError)

    /// Stays connected until ``stop()`` or cancellation.
    func run() async

    /// Closes the connection for good.
    func stop() async
}

/// The state of a connection.
public typealias BotConnectionState = RelayConnectionState

/// A WebSocket message (RFC 6455 §5.6).
public enum BotConnectionMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case binary([UInt8])
}

/// The address of a WebSocket service, and the limits of the connection.
public struct BotConnectionRequest: Sendable, Hashable {
    /// A `ws://` or `wss://` URL with a host and without a user name.
    public var url: String
    /// The longest incoming message in bytes; a longer one ends the session.
    public var maximumBytes: Int
    /// The most messages that wait for the socket.
    public var queuedMessages: Int
    /// The most bytes that wait for the socket.
    public var queuedBytes: Int
    /// Whether the host may be this machine or in a private network; see ``BotHTTPRequest/reachesPrivateAddresses``.
    public var reachesPrivateAddresses: Bool

    /// Creates a request. By default messages have at most 1 MiB, and 256 messages of 1 MiB may wait.
    public init(
        url: String, maximumBytes: Int = 1 << 20, queuedMessages: Int = 256, queuedBytes: Int = 1 << 20,
        reachesPrivateAddresses: Bool = false
    ) {
        self.url = url
        self.maximumBytes = maximumBytes
        self.queuedMessages = queuedMessages
        self.queuedBytes = queuedBytes
        self.reachesPrivateAddresses = reachesPrivateAddresses
    }
}

/// What a bot does at the events of a connection.
public struct BotConnectionHandlers: Sendable {
    /// Returns the headers of each attempt, such as `Authorization` with the current token. An error counts as a failed
    /// attempt.
    public var headers: @Sendable () async throws -> [(name: String, value: String)]
    /// Returns the messages to send first after each connect, such as subscriptions.
    public var onConnect: @Sendable () async -> [BotConnectionMessage]
    /// Handles a message. The next one is read afterwards, so a slow handler slows the service down.
    public var onMessage: @Sendable (BotConnectionMessage) async -> Void
    /// Learns each change of the state.
    public var onState: @Sendable (BotConnectionState) -> Void

    /// Creates handlers; only messages must be handled.
    public init(
        headers: @escaping @Sendable () async throws -> [(name: String, value: String)] = { [] },
        onConnect: @escaping @Sendable () async -> [BotConnectionMessage] = { [] },
        onState: @escaping @Sendable (BotConnectionState) -> Void = { _ in },
        onMessage: @escaping @Sendable (BotConnectionMessage) async -> Void
    ) {
        self.headers = headers
        self.onConnect = onConnect
        self.onState = onState
        self.onMessage = onMessage
    }
}

extension NoBotServices: BotConnections {
    /// Throws `BotError.Code.requestFailed`.
    public func connection(
        _ request: BotConnectionRequest, _ handlers: BotConnectionHandlers
    ) throws(BotError) -> any BotConnection {
        throw BotError(.requestFailed, "WebSocket connections are not available here")
    }
}
