import Errors
import NIOCore
import NIOPosix

/// The listening socket and its event loops, from bind to the last closed connection.
final class RelayServer: Sendable {
    let core: RelayCore
    let port: Int
    private let group: MultiThreadedEventLoopGroup
    private let listener: any Channel

    /// Binds and starts accepting connections.
    static func start(_ core: RelayCore) async throws -> RelayServer {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, core.configuration.threads))
        do {
            let listener = try await bootstrap(core, group)
                .bind(host: core.configuration.host, port: core.configuration.port).get()
            return RelayServer(core, group, listener)
        } catch {
            try await group.shutdownGracefully()
            let address = "\(core.configuration.host):\(core.configuration.port)"
            throw RelayError(.bindFailed, "cannot listen on \(address)", cause: error)
        }
    }

    private init(_ core: RelayCore, _ group: MultiThreadedEventLoopGroup, _ listener: any Channel) {
        self.core = core
        self.group = group
        self.listener = listener
        port = listener.localAddress?.port ?? core.configuration.port
    }

    private static func bootstrap(_ core: RelayCore, _ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        let pipeline = ServerPipeline(
            core: core,
            router: HTTPRouter(routes: HTTPRouter.relay(core.configuration).routes + BlossomRoutes(core).routes))
        return ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 64 << 10, high: 256 << 10))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try pipeline.configure(channel) }
            }
    }

    /// Stops listening, answers accepted messages, closes WebSockets with 1001 and all other connections at once.
    ///
    /// Returns when every connection and the database are closed, and the threads have ended.
    func stop() async throws {
        try? await listener.close().get()
        let (clients, channels) = core.hub.beginStop()
        for client in clients {
            client.eventLoop.execute { client.connection.value.goAway() }
        }
        for channel in channels {
            channel.eventLoop.execute { ServerPipeline.closeUnlessNostr(channel) }
        }
        let eventLoop = group.next()
        let deadline = eventLoop.scheduleTask(in: TimeAmount(core.configuration.shutdownGrace)) {
            for channel in channels { channel.close(promise: nil) }
        }
        try? await EventLoopFuture.andAllComplete(channels.map(\.closeFuture), on: eventLoop).get()
        deadline.cancel()
        // Close the database before the threads, because its last callbacks run on them.
        let closing = Result { try core.store.close() }
        core.blobs.close()
        try await group.shutdownGracefully()
        try closing.get()
    }
}
