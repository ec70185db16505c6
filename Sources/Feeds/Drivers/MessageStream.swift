package import FeedRules

/// A connection that carries whole messages, such as a WebSocket.
package protocol MessageStream: Sendable {
    /// Sends one text message.
    func send(_ text: String) async throws
    /// Calls `body` for each message until the connection ends; each call returns before more is read. Throws
    /// ``FeedError`` when the connection fails, and the errors of `body`.
    func receive(_ body: @Sendable ([UInt8]) async throws -> Void) async throws
}

/// Opens message connections.
package protocol MessageDial: Sendable {
    /// Connects, and runs a function with the connection, which is closed afterwards.
    ///
    /// - Parameters:
    ///   - url: A ws:// or wss:// URL.
    ///   - maximumBytes: The maximum number of bytes of a message; a longer one ends the connection.
    func open(
        _ url: String, headers: [FeedHeader], maximumBytes: Int,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws
}

/// Reads a WebSocket; each message is an item.
package struct WebSocketDriver: FeedDriver {
    private let settings: WebSocketFeedSettings
    private let dial: any MessageDial

    package init(_ settings: WebSocketFeedSettings, dial: any MessageDial) {
        self.settings = settings
        self.dial = dial
    }

    package func run(_ outlet: FeedOutlet) async throws {
        let settings = settings
        try await dial.open(settings.url, headers: settings.headers, maximumBytes: outlet.maximumBytes) { stream in
            for greeting in settings.greetings { try await stream.send(greeting) }
            outlet.connected()
            var generator = SystemRandomNumberGenerator()
            let ids = SharedStreamIDs(StreamIDs(field: settings.idField, using: &generator))
            try await stream.receive { payload in
                _ = try await outlet.deliver(outlet.item(id: ids.next(payload), payload))
            }
        }
    }
}
