package import BotKit
import Errors
package import Logging
import Nostr
import PikaCore
import RelayClient

/// WebSocket connections of bots.
package struct MessageConnections: BotConnections {
    private let logger: Logger

    package init(logger: Logger) { self.logger = logger }

    package func connection(
        _ request: BotConnectionRequest, _ handlers: BotConnectionHandlers
    ) throws(BotError) -> any BotConnection {
        let limits = 1...(64 << 20)
        guard let url = try? RelayURL(request.url) else {
            throw BotError(.requestFailed, "expected a ws:// or wss:// URL with a host and without a user name")
        }
        guard limits.contains(request.maximumBytes), limits.contains(request.queuedBytes),
            (1...65_536).contains(request.queuedMessages)
        else { throw BotError(.requestFailed, "the limits of a connection must be positive, and at most 64 MiB") }
        var configuration = TransportConfiguration()
        configuration.maximumMessageBytes = request.maximumBytes
        let endpoint = MessageConnection<PlainMessages>.Endpoint(
            url, reachesPrivateAddresses: request.reachesPrivateAddresses,
            headers: {
                let headers = try await handlers.headers()
                // The client stops the program at a malformed header.
                guard headers.allSatisfy({ HTTPRequests.isHeader($0.name, $0.value) }) else {
                    throw BotError(.requestFailed, "a header has a malformed name or value")
                }
                return headers
            })
        let consumer = MessageConnection<PlainMessages>.Consumer(
            onConnect: { await handlers.onConnect().map { WebSocketMessage($0) } },
            onMessage: { await handlers.onMessage(BotConnectionMessage($0)) }, onState: handlers.onState)
        do {
            return OpenConnection(
                connection: try MessageConnection(
                    endpoint, codec: PlainMessages(), queue: (request.queuedMessages, request.queuedBytes),
                    configuration: configuration, consumer: consumer, logger: logger))
        } catch {
            throw BotError(.requestFailed, "cannot prepare the connection: \(error.message)")
        }
    }
}

private struct OpenConnection: BotConnection {
    let connection: MessageConnection<PlainMessages>

    var state: BotConnectionState {
        get async { await connection.state }
    }

    func send(_ message: BotConnectionMessage) async throws(BotError) {
        guard await connection.send(WebSocketMessage(message)) else {
            throw BotError(.limitReached, "the queue of the connection is full")
        }
    }

    func run() async { await connection.run() }

    func stop() async { await connection.stop() }
}

extension WebSocketMessage {
    fileprivate init(_ message: BotConnectionMessage) {
        switch message {
        case .text(let text): self = .text(text)
        case .binary(let bytes): self = .binary(bytes)
        }
    }
}

extension BotConnectionMessage {
    fileprivate init(_ message: WebSocketMessage) {
        switch message {
        case .text(let text): self = .text(text)
        case .binary(let bytes): self = .binary(bytes)
        }
    }
}
