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
            case is CancellationError: Disconnection(.goodbye, "given up")
            case is WebSocketConnector.TimedOut: Disconnection(.unreachable, "no connection in time")
            case AddressRefusal.privateAddress: Disconnection(.notAllowed, "\(error)")
            case is AddressRefusal: Disconnection(.unreachable, "\(error)")
            case is WebSocketConnector.NotUpgraded: Disconnection(.upgrade, "the server speaks no WebSocket here")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: Disconnection(.tls, "TLS: \(error)")
            case is NIOConnectionError, is IOError: Disconnection(.unreachable, Disconnection.words(error))
            case ChannelError.connectTimeout: Disconnection(.unreachable, "no connection in time")
            case is HTTPParserError, is NIOHTTPClientUpgradeError:
                Disconnection(.upgrade, "the upgrade failed: \(error)")
            default: Disconnection(.upgrade, "closed before the upgrade")
            }
    }

    /// Classifies an error while reading from a connection.
    package init(reading error: any Error) {
        self =
            switch error {
            case is CancellationError: Disconnection(.goodbye, "given up")
            case NIOWebSocketError.invalidFrameLength: Disconnection(.oversize, "a frame is too large")
            case is NIOWebSocketError: Disconnection(.protocolError, "\(error)")
            case let error as NIOWebSocketFrameAggregator.Error: Disconnection(aggregating: error)
            case NIOSSLError.uncleanShutdown: Disconnection(.closed, "the relay closed the connection")
            default: Disconnection(.failed, Disconnection.words(error))
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

    static func words(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { words($0.error) } ?? "the host name is not known"
        // Its own description names system calls.
        case let error as IOError: words(ofSystem: error.errnoCode)
        case ChannelError.connectTimeout: "no connection in time"
        case ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed, ChannelError.eof: "the connection is closed"
        default: "\(error)"
        }
    }

    /// Returns the system's description, such as `connection refused`.
    private static func words(ofSystem number: CInt) -> String {
        let text = String(cString: strerror(number))
        // Lowercased for use within a sentence, except words such as `RPC` or `I/O`.
        guard let first = text.first, text.dropFirst().first?.isLowercase == true else { return text }
        return first.lowercased() + text.dropFirst()
    }
}
