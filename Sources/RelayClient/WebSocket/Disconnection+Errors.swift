import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket

extension Disconnection {
    /// What kept a connection from being made.
    init(connecting error: any Error) {
        self =
            switch error {
            case is CancellationError: Disconnection(.goodbye, "given up")
            case is WebSocketConnector.TimedOut: Disconnection(.unreachable, "no connection in time")
            case is WebSocketConnector.NotUpgraded: Disconnection(.upgrade, "the server speaks no WebSocket here")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: Disconnection(.tls, "TLS: \(error)")
            case is NIOConnectionError, is IOError: Disconnection(.unreachable, Disconnection.words(error))
            case ChannelError.connectTimeout: Disconnection(.unreachable, "no connection in time")
            case is HTTPParserError, is NIOHTTPClientUpgradeError:
                Disconnection(.upgrade, "the upgrade failed: \(error)")
            default: Disconnection(.upgrade, "closed before the upgrade")
            }
    }

    /// What ended a connection while it was read.
    init(reading error: any Error) {
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

    private static func words(_ error: any Error) -> String {
        guard let error = error as? NIOConnectionError else { return "\(error)" }
        if let failure = error.connectionErrors.first { return "\(failure.error)" }
        return "the host name is not known"
    }
}
