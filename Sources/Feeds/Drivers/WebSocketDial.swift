import Errors
package import FeedRules
import NIOCore
import NIOWebSocket
import Nostr
package import RelayClient
import Synchronization

/// Opens WebSockets with the connector of the relay connections (RFC 6455): pings every 30 s, and ends a connection that
/// was silent for 60 s.
package struct WebSocketDial: MessageDial {
    private let configuration: TransportConfiguration

    package init(_ configuration: TransportConfiguration = TransportConfiguration()) {
        self.configuration = configuration
    }

    package func open(
        _ url: String, headers: [FeedHeader], maximumBytes: Int,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        let address: RelayURL
        do { address = try RelayURL(url) } catch {
            throw FeedError(.unreachable, "the address is not a ws:// or wss:// URL")
        }
        var configuration = configuration
        configuration.maximumMessageBytes = max(1, maximumBytes)
        let generator = SharedGenerator(SystemRandomNumberGenerator())
        let channel: WebSocketChannel
        do {
            let connector = try WebSocketConnector(configuration, generator: generator)
            channel = try await connector.connect(
                to: address, headers: headers.map { (name: $0.name, value: $0.value) })
        } catch {
            try Task.checkCancellation()
            throw FeedError(.unreachable, Disconnection(connecting: error).text)
        }
        let settings = configuration
        do {
            try await channel.closing {
                let socket = OpenWebSocket(channel)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await body(socket) }
                    group.addTask { try await socket.keepAlive(settings) }
                    defer { group.cancelAll() }
                    try await group.next()
                }
            }
        } catch {
            try Task.checkCancellation()
            switch error {
            case is FeedError, is CancellationError: throw error
            default: throw FeedError(.unreachable, Disconnection(reading: error).text)
            }
        }
    }
}

/// One open WebSocket.
private final class OpenWebSocket: MessageStream {
    private let channel: WebSocketChannel
    private let lastTraffic = Mutex(ContinuousClock.now)

    init(_ channel: WebSocketChannel) {
        self.channel = channel
    }

    func send(_ text: String) async throws { try await channel.write(.text, ByteBuffer(string: text)) }

    func receive(_ body: @Sendable ([UInt8]) async throws -> Void) async throws {
        while let frame = try await channel.next() {
            lastTraffic.withLock { $0 = .now }
            // RFC 6455 section 5.1.
            guard frame.maskKey == nil else { throw FeedError(.badAnswer, "unexpected masked frame") }
            switch frame.opcode {
            case .text, .binary: try await body(Array(frame.data.readableBytesView))
            case .ping: try await channel.write(.pong, frame.data)
            case .pong: break
            case .connectionClose:
                try? await channel.write(.connectionClose, frame.data)
                throw FeedError(.ended, "the server closed the connection")
            default: throw FeedError(.badAnswer, "unknown frame type")
            }
            // The time that the inbox took is not the server's.
            lastTraffic.withLock { $0 = .now }
        }
        throw FeedError(.ended, "the server closed the connection")
    }

    /// Sends pings; throws when the server has been silent for too long.
    func keepAlive(_ configuration: TransportConfiguration) async throws {
        while true {
            try await Task.sleep(for: configuration.pingInterval)
            let silence = lastTraffic.withLock { $0.duration(to: .now) }
            guard silence < configuration.deadPeerTimeout else {
                throw FeedError(.unreachable, "the server was silent for \(silence.components.seconds) s")
            }
            try await channel.write(.ping, ByteBuffer())
        }
    }
}
