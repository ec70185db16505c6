import CallWire
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
        // One decoder for both paths: the connections enforce their own limits.
        NIOWebSocketServerUpgrader(
            maxFrameSize: max(core.limits.messageBytes, CallWire.maximumMessage),
            shouldUpgrade: { [core] channel, _ in
                let date = DateHeader.text(core.now()).map { HTTPHeaders([("Date", $0)]) }
                return channel.eventLoop.makeSucceededFuture(date ?? HTTPHeaders())
            },
            upgradePipelineHandler: { [core] channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let client = ClientAddress(channel.remoteAddress)
                    let isCall = core.configuration.servesCalls && head.uri.prefix { $0 != "?" } == CallWire.path
                    let aggregator = NIOWebSocketFrameAggregator(
                        minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 4_096,
                        maxAccumulatedFrameSize: isCall ? CallWire.maximumMessage : core.limits.messageBytes)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandlers([MaskingRule(), aggregator])
                    if isCall {
                        try pipeline.addHandler(CallConnection(core: core, client: client))
                    } else {
                        try pipeline.addHandler(Self.nostrConnection(core, client, host: head.headers["Host"].first))
                    }
                }
            })
    }

    private static func nostrConnection(
        _ core: RelayCore, _ client: ClientAddress, host: String?
    ) -> ClientConnection {
        var randomness = SystemRandomNumberGenerator()
        let session = core.session(host: host, client: client, using: &randomness)
        return ClientConnection(core: core, session: session, client: client)
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

    /// Closes a connection of a call with a handshake, and one that still speaks HTTP at once; the hub's clients close
    /// themselves. Call on the channel's event loop only.
    static func closeUnlessNostr(_ channel: any Channel) {
        let pipeline = channel.pipeline.syncOperations
        if let call = try? pipeline.handler(type: CallConnection.self) {
            call.goAway()
        } else if (try? pipeline.handler(type: ClientConnection.self)) == nil {
            channel.close(promise: nil)
        }
    }
}
