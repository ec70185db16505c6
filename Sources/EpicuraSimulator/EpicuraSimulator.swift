import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
package import Nostr
import ServiceLifecycle
import Synchronization

/// Serves the simulated cloud and its appliances on one port: REST, the WebSocket of live events, and the camera.
///
/// For development and tests: the one-time codes are public at `/simulator/codes`, and nothing is stored.
package final class EpicuraSimulator: Service {
    package struct Configuration: Sendable {
        package var host = "127.0.0.1"
        /// 0 for any free port.
        package var port = 0
        package var settings = SimulatedCloud.Settings()

        package init() {}
    }

    /// Interval in which appliances cook and events are sent, in milliseconds.
    static let tick: Int64 = 50

    private let configuration: Configuration
    private let hub: SimulatorHub
    private let port = AsyncStream.makeStream(of: Int.self, bufferingPolicy: .bufferingNewest(1))
    private let channels = Mutex<[ObjectIdentifier: any Channel]>([:])

    /// - Parameter now: the clock of tokens, expiries and events; nil for the wall clock.
    package init(configuration: Configuration = Configuration(), now: (@Sendable () -> UnixTime)? = nil) {
        self.configuration = configuration
        self.hub = SimulatorHub(
            cloud: SimulatedCloud(settings: configuration.settings), now: now ?? { UnixTime.systemTime })
    }

    /// The state at the moment.
    package var cloud: SimulatedCloud { self.hub.cloud }

    /// Listens until a graceful shutdown or a cancellation; throws the error of a failed bind. Runs once.
    package func run() async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try await self.serve(group)
            try await group.shutdownGracefully()
        } catch {
            self.port.continuation.finish()
            try? await group.shutdownGracefully()
            throw error
        }
    }

    /// Returns the port once `run()` listens, to one caller; nil if it failed.
    package func waitUntilListening() async -> Int? {
        var iterator = self.port.stream.makeAsyncIterator()
        return await iterator.next()
    }

    private func serve(_ group: MultiThreadedEventLoopGroup) async throws {
        let listener = try await self.bootstrap(group)
            .bind(host: self.configuration.host, port: self.configuration.port).get()
        let hub = self.hub
        let interval = TimeAmount.milliseconds(Self.tick)
        let clock = group.next().scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            hub.advance(milliseconds: Self.tick)
        }
        let port = listener.localAddress?.port ?? self.configuration.port
        hub.setLocalAddress("\(self.configuration.host):\(port)")
        self.port.continuation.yield(port)
        try? await gracefulShutdown()
        clock.cancel()
        try? await listener.close().get()
        let open = self.channels.withLock { Array($0.values) }
        for channel in open { channel.close(promise: nil) }
        try? await EventLoopFuture.andAllComplete(open.map { $0.closeFuture }, on: group.next()).get()
        self.port.continuation.finish()
    }

    private func bootstrap(_ group: MultiThreadedEventLoopGroup) -> ServerBootstrap {
        ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.configure(channel) }
            }
    }

    private func configure(_ channel: any Channel) throws {
        let identifier = ObjectIdentifier(channel)
        self.channels.withLock { $0[identifier] = channel }
        channel.closeFuture.whenComplete { _ in self.channels.withLock { $0[identifier] = nil } }
        let hub = self.hub
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: 1 << 16,
            shouldUpgrade: { channel, head in
                let request = SimulatorConnection.request(head)
                guard request.path == "/v1/events" else { return channel.eventLoop.makeSucceededFuture(nil) }
                guard let refusal = hub.refusal(ofSocket: request) else {
                    return channel.eventLoop.makeSucceededFuture(HTTPHeaders())
                }
                let connection = try? channel.pipeline.syncOperations.handler(type: SimulatorConnection.self)
                connection?.socketRefusal = refusal
                return channel.eventLoop.makeSucceededFuture(nil)
            },
            upgradePipelineHandler: { channel, head in
                let last = head.headers["Last-Event-ID"].first ?? SimulatorConnection.request(head).query["after"]
                let after = last.flatMap { Int($0) } ?? 0
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: 16, maxAccumulatedFrameSize: 1 << 16))
                    try pipeline.addHandler(SimulatorSocket(hub: hub, after: after))
                }
            })
        let upgrade: NIOHTTPServerUpgradeConfiguration = (
            upgraders: [upgrader],
            completionHandler: { context in
                let pipeline = context.pipeline.syncOperations
                if let connection = try? pipeline.handler(type: SimulatorConnection.self) {
                    pipeline.removeHandler(connection, promise: nil)
                }
            }
        )
        let pipeline = channel.pipeline.syncOperations
        try pipeline.configureHTTPServerPipeline(withServerUpgrade: upgrade)
        try pipeline.addHandler(SimulatorConnection(hub: hub))
    }
}

/// Runs a simulator for as long as `body` does.
///
/// - Parameter body: called with the simulator and its address, `http://HOST:PORT`.
package func withEpicuraSimulator<Value: Sendable>(
    configuration: EpicuraSimulator.Configuration = EpicuraSimulator.Configuration(),
    _ body: (_ simulator: EpicuraSimulator, _ address: String) async throws -> Value
) async throws -> Value {
    let simulator = EpicuraSimulator(configuration: configuration)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await simulator.run() }
        let result: Result<Value, any Error>
        if let port = await simulator.waitUntilListening() {
            do {
                result = .success(try await body(simulator, "http://\(configuration.host):\(port)"))
            } catch {
                result = .failure(error)
            }
        } else {
            result = .failure(CancellationError())
        }
        group.cancelAll()
        try await group.waitForAll()
        return try result.get()
    }
}
