import Errors
package import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
package import Nostr

/// Opens WebSockets: TCP, TLS for `wss`, HTTP upgrade (RFC 6455).
///
/// Incoming frames are bounded in size and reassembled to messages before they are delivered.
package struct WebSocketConnector: Sendable {
    /// The server answered with HTTP, but does not accept WebSocket upgrades here.
    struct NotUpgraded: Error {}
    struct TimedOut: Error {}

    private let configuration: TransportConfiguration
    private let tls: NIOSSLContext
    private let generator: SharedGenerator
    private let eventLoops: any EventLoopGroup

    package init(
        _ configuration: TransportConfiguration, generator: SharedGenerator,
        eventLoops: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton
    ) throws(TransportError) {
        self.configuration = configuration
        self.generator = generator
        self.eventLoops = eventLoops
        tls = try TLSContexts.context(
            trusting: configuration.trustRootFiles, closeTimeout: configuration.closeTimeout)
    }

    /// Connects. Cancellation closes every channel opened so far.
    ///
    /// - Parameters:
    ///   - address: The relay's address; nil to use the system's resolver.
    ///   - share: Number of addresses that are tried one after the other; each gets its part of the timeout.
    ///   - headers: Further headers of the upgrade request, such as `Authorization`.
    ///   - onDate: Receives the relay's time, if the upgrade response has a `Date` header.
    package func connect(
        to relay: RelayURL, at address: SocketAddress? = nil, sharing share: Int = 1,
        headers: [(name: String, value: String)] = [],
        onDate: @escaping @Sendable (UnixTime) -> Void = { _ in }
    ) async throws -> WebSocketChannel {
        let limit = TimeAmount(
            max(min(.seconds(1), configuration.connectTimeout), configuration.connectTimeout / share))
        let attempt = ConnectionAttempt()
        let prepare: @Sendable (any Channel) -> EventLoopFuture<EventLoopFuture<WebSocketChannel>> = { channel in
            attempt.began(channel, timeout: limit)
            return channel.eventLoop.makeCompletedFuture { try configure(channel, relay, headers, onDate) }
        }
        return try await withTaskCancellationHandler {
            do {
                let bootstrap = ClientBootstrap(group: eventLoops)
                    .connectTimeout(limit)
                    .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                let upgrade =
                    if let address {
                        try await bootstrap.connect(to: address, channelInitializer: prepare)
                    } else {
                        try await bootstrap.connect(
                            host: relay.host, port: relay.port, channelInitializer: prepare)
                    }
                let webSocket = try await upgrade.get()
                attempt.succeeded()
                return webSocket
            } catch {
                throw attempt.end(error)
            }
        } onCancel: {
            attempt.cancel()
        }
    }

    private func configure(
        _ channel: any Channel, _ relay: RelayURL, _ headers: [(name: String, value: String)],
        _ onDate: @escaping @Sendable (UnixTime) -> Void
    ) throws -> EventLoopFuture<WebSocketChannel> {
        if relay.isSecure {
            // Server name indication is for names only; an IP address is compared with the certificate itself.
            let isAddress = (try? SocketAddress(ipAddress: relay.host, port: 0)) != nil
            let handler = try NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : relay.host)
            try channel.pipeline.syncOperations.addHandler(handler)
        }
        var head = HTTPRequestHead(version: .http1_1, method: .GET, uri: relay.path)
        head.headers.add(name: "Host", value: relay.authority)
        for header in headers { head.headers.add(name: header.name, value: header.value) }
        let upgrade = NIOTypedHTTPClientUpgradeConfiguration(
            upgradeRequestHead: head, upgraders: [upgrader(onDate)],
            notUpgradingCompletionHandler: { channel in
                channel.close(promise: nil)
                return channel.eventLoop.makeFailedFuture(NotUpgraded())
            })
        var pipeline = NIOUpgradableHTTPClientPipelineConfiguration(upgradeConfiguration: upgrade)
        // The first frame can arrive in one packet with the upgrade response.
        pipeline.leftOverBytesStrategy = .forwardBytes
        return try channel.pipeline.syncOperations.configureUpgradableHTTPClientPipeline(configuration: pipeline)
    }

    private func upgrader(
        _ onDate: @escaping @Sendable (UnixTime) -> Void
    ) -> NIOTypedWebSocketClientUpgrader<WebSocketChannel> {
        var keys = generator
        let most = configuration.maximumMessageBytes
        let fragments = configuration.maximumFragments
        return NIOTypedWebSocketClientUpgrader(
            requestKey: NIOWebSocketClientUpgrader.randomRequestKey(using: &keys),
            maxFrameSize: most,
            // Automatic error handling would close the channel before the error arrives, and hide the reason.
            enableAutomaticErrorHandling: false,
            upgradePipelineHandler: { channel, answer in
                if let time = answer.headers.first(name: "Date").flatMap(HTTPDate.unixTime) { onDate(time) }
                return channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: fragments,
                            maxAccumulatedFrameSize: most))
                    return try WebSocketChannel(wrapping: channel, generator: generator)
                }
            })
    }
}
