import NIOCore
import NIOPosix
import Nostr
import Synchronization

/// TCP proxy in front of a relay that can cut, refuse or stall connections.
///
/// Agents connect to ``address``; bytes are forwarded unchanged in both directions.
final class RelayGate: Sendable {
    enum State: Sendable {
        case open
        /// Existing connections are cut, and new ones closed.
        case down
        /// Connections stay open but forward nothing.
        case stalled
    }

    private struct Content {
        var state = State.open
        var connections: [ObjectIdentifier: GateConnection] = [:]
    }

    /// The address that agents connect to.
    let address: RelayURL
    private let listener: any Channel
    private let content: ContentBox

    private final class ContentBox: Sendable {
        let value = Mutex(Content())
    }

    private init(address: RelayURL, listener: any Channel, content: ContentBox) {
        self.address = address
        self.listener = listener
        self.content = content
    }

    /// Listens on a free port of the loopback address.
    ///
    /// Throws `LoadError.Code.badPlan` for a relay with TLS, because its certificate names another host.
    static func open(to relay: RelayURL) async throws -> RelayGate {
        guard !relay.isSecure else {
            throw LoadError(
                .badPlan,
                "faults of \(relay): only ws:// relays can be interrupted; remove the fault, or use another relay")
        }
        let content = ContentBox()
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { agent in
                agent.eventLoop.makeCompletedFuture {
                    try agent.pipeline.syncOperations.addHandler(
                        GateEntrance { connect($0, host: relay.host, port: relay.port, content) })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let address = try RelayURL("ws://127.0.0.1:\(listener.localAddress?.port ?? 0)\(relay.path)")
        return RelayGate(address: address, listener: listener, content: content)
    }

    func set(_ state: State) {
        let connections = content.value.withLock { content in
            content.state = state
            return Array(content.connections.values)
        }
        for connection in connections { connection.apply(state) }
    }

    func close() async {
        set(.down)
        try? await listener.close()
    }

    /// Connects an accepted connection, not read from yet, to the relay.
    private static func connect(_ agent: any Channel, host: String, port: Int, _ content: ContentBox) {
        guard content.value.withLock({ $0.state }) != .down else { return agent.close(promise: nil) }
        ClientBootstrap(group: agent.eventLoop).channelOption(.autoRead, value: false)
            .connect(host: host, port: port)
            .flatMapThrowing { relay in
                try agent.pipeline.syncOperations.addHandler(GateHandler(peer: relay))
                try relay.pipeline.syncOperations.addHandler(GateHandler(peer: agent))
                let connection = GateConnection(agent: agent, relay: relay)
                let id = ObjectIdentifier(connection)
                let state = content.value.withLock { content in
                    content.connections[id] = connection
                    return content.state
                }
                relay.closeFuture.whenComplete { _ in
                    content.value.withLock { _ = $0.connections.removeValue(forKey: id) }
                }
                connection.apply(state)
            }
            .whenFailure { _ in agent.close(promise: nil) }
    }
}

/// Reports accepted connections.
private final class GateEntrance: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let entered: (any Channel) -> Void

    init(entered: @escaping (any Channel) -> Void) { self.entered = entered }

    func channelActive(context: ChannelHandlerContext) { entered(context.channel) }
}

/// An agent's connection and its counterpart to the relay.
private final class GateConnection: Sendable {
    private let agent: any Channel
    private let relay: any Channel

    init(agent: any Channel, relay: any Channel) {
        (self.agent, self.relay) = (agent, relay)
    }

    func apply(_ state: RelayGate.State) {
        for channel in [agent, relay] {
            switch state {
            case .open: channel.setOption(.autoRead, value: true).whenComplete { _ in }
            case .stalled: channel.setOption(.autoRead, value: false).whenComplete { _ in }
            case .down: channel.close(promise: nil)
            }
        }
    }
}

/// Forwards incoming bytes; both channels are on one event loop.
private final class GateHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let peer: any Channel

    init(peer: any Channel) { self.peer = peer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        peer.writeAndFlush(unwrapInboundIn(data), promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { peer.close(promise: nil) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
