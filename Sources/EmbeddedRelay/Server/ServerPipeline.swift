import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Configures accepted connections: HTTP first, then possibly a WebSocket.
struct ServerPipeline: Sendable {
    let core: RelayCore
    let router: HTTPRouter

    func configure(_ channel: any Channel) throws {
        let hub = core.hub
        let client = ClientAddress(channel.remoteAddress)
        guard hub.admit(channel, of: client, limit: core.limits.connections, now: core.now()) else {
            throw ChannelError.ioOnClosedChannel
        }
        channel.closeFuture.whenComplete { _ in hub.forget(channel, of: client) }
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(IdleStateHandler(readTimeout: TimeAmount(core.limits.idleTimeout)))
        let upgrade: NIOHTTPServerUpgradeConfiguration = (
            upgraders: [upgrader()],
            completionHandler: { context in Self.leaveHTTP(context.pipeline.syncOperations) }
        )
        try pipeline.configureHTTPServerPipeline(withServerUpgrade: upgrade)
        try pipeline.addHandler(
            HTTPConnection(
                router: router, maximumDiscarded: core.limits.blobBytes, now: core.now, logger: core.logger,
                admits: { [core] in core.consumeMessage(of: client) }))
    }

    private func upgrader() -> NIOWebSocketServerUpgrader {
        NIOWebSocketServerUpgrader(
            maxFrameSize: core.limits.messageBytes,
            shouldUpgrade: { [core] channel, _ in
                let date = DateHeader.text(core.now()).map { HTTPHeaders([("Date", $0)]) }
                return channel.eventLoop.makeSucceededFuture(date ?? HTTPHeaders())
            },
            upgradePipelineHandler: { [core] channel, head in
                channel.eventLoop.makeCompletedFuture {
                    var randomness = SystemRandomNumberGenerator()
                    let client = ClientAddress(channel.remoteAddress)
                    let session = core.session(
                        host: head.headers["Host"].first, client: client, using: &randomness)
                    let aggregator = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4_096,
                        maxAccumulatedFrameSize: core.limits.messageBytes)
                    try channel.pipeline.syncOperations.addHandlers([
                        MaskingRule(), aggregator, ClientConnection(core: core, session: session, client: client),
                    ])
                }
            })
    }

    /// Removes the HTTP handlers when the WebSocket begins.
    private static func leaveHTTP(_ pipeline: ChannelPipeline.SynchronousOperations) {
        if let connection = try? pipeline.handler(type: HTTPConnection.self) {
            pipeline.removeHandler(connection, promise: nil)
        }
        if let idle = try? pipeline.handler(type: IdleStateHandler.self) {
            pipeline.removeHandler(idle, promise: nil)
        }
    }

    /// Closes a connection that still speaks HTTP. Call on the channel's event loop only.
    static func closeUnlessUpgraded(_ channel: any Channel) {
        if (try? channel.pipeline.syncOperations.handler(type: ClientConnection.self)) == nil {
            channel.close(promise: nil)
        }
    }
}
