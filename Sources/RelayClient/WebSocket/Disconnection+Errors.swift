import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import NetworkAddresses

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

extension Disconnection {
    /// Classifies an error of a connection attempt.
    package init(connecting error: any Error) {
        self =
            switch error {
            case is CancellationError: Disconnection(.goodbye, "cancelled")
            case is WebSocketConnector.TimedOut: Disconnection(.unreachable, "the connection attempt timed out")
            case AddressRefusal.privateAddress: Disconnection(.notAllowed, "\(error)")
            case is AddressRefusal: Disconnection(.unreachable, "\(error)")
            case is WebSocketConnector.NotUpgraded: Disconnection(.upgrade, "the server refused the WebSocket upgrade")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: Disconnection(.tls, "TLS: \(error)")
            case is NIOConnectionError, is IOError: Disconnection(.unreachable, Disconnection.describe(error))
            case ChannelError.connectTimeout: Disconnection(.unreachable, "the connection attempt timed out")
            case is HTTPParserError, is NIOHTTPClientUpgradeError:
                Disconnection(.upgrade, "the WebSocket upgrade failed: \(error)")
            default: Disconnection(.upgrade, "closed before the WebSocket upgrade")
            }
    }

    /// Classifies an error while reading from a connection.
    package init(reading error: any Error) {
        self =
            switch error {
            case is CancellationError: Disconnection(.goodbye, "cancelled")
            case NIOWebSocketError.invalidFrameLength: Disconnection(.oversize, "a frame is too large")
            case is NIOWebSocketError: Disconnection(.protocolError, "\(error)")
            case let error as NIOWebSocketFrameAggregator.Error: Disconnection(aggregating: error)
            case NIOSSLError.uncleanShutdown: Disconnection(.closed, "the relay closed the connection")
            default: Disconnection(.failed, Disconnection.describe(error))
            }
    }

    private init(aggregating error: NIOWebSocketFrameAggregator.Error) {
        self =
            switch error {
            case .accumulatedFrameSizeIsTooLarge: Disconnection(.oversize, "a message is too large")
            case .tooManyFragments, .nonFinalFragmentSizeIsTooSmall:
                Disconnection(.oversize, "a message has too many fragments")
            case .didReceiveFragmentBeforeReceivingTextOrBinaryFrame, .receivedNewFrameWithoutFinishingPrevious:
                Disconnection(.protocolError, "fragments out of order")
            }
    }

    static func describe(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { describe($0.error) } ?? "unknown host name"
        // Its own description names system calls.
        case let error as IOError: describe(ofSystem: error.errnoCode)
        case ChannelError.connectTimeout: "the connection attempt timed out"
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: "the connection is closed"
        default: "\(error)"
        }
    }

    /// Returns the system's description, such as `connection refused`.
    private static func describe(ofSystem number: CInt) -> String {
        let text = String(cString: strerror(number))
        // Lowercased for use within a sentence, except words such as `RPC` or `I/O`.
        guard let first = text.first, text.dropFirst().first?.isLowercase == true else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
