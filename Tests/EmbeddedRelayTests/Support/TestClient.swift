import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Nostr

/// A WebSocket client that sends arbitrary frames and texts, valid or not.
final class TestClient: Sendable {
    enum Inbound: Hashable, Sendable {
        case message([UInt8])
        case pong([UInt8])
        /// The relay's close frame; nil when it states no code.
        case close(UInt16?)
        /// The connection has ended.
        case end
    }

    struct UnexpectedInbound: Error {
        let inbound: Inbound?
    }

    let channel: any Channel
    private let inbound: AsyncStream<Inbound>

    private init(channel: any Channel, inbound: AsyncStream<Inbound>) {
        self.channel = channel
        self.inbound = inbound
    }

    /// - Parameters:
    ///   - address: `ws://host:port`.
    ///   - answersClose: whether to answer the relay's close frame, as RFC 6455 requires.
    static func connect(_ address: String, answersClose: Bool = true) async throws -> TestClient {
        let url = try RelayURL(address)
        let (stream, continuation) = AsyncStream<Inbound>.makeStream()
        let group = MultiThreadedEventLoopGroup.singleton
        let upgraded = group.next().makePromise(of: Void.self)
        let bootstrap = ClientBootstrap(group: group).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try configure(channel, answersClose, continuation, upgraded)
            }
        }
        let channel: any Channel
        do {
            channel = try await bootstrap.connect(host: url.host, port: url.port).get()
        } catch {
            upgraded.fail(error)
            throw error
        }
        channel.closeFuture.whenComplete { _ in upgraded.fail(ChannelError.eof) }
        // Flushed together: with the head alone, the upgrade could arrive before the end.
        channel.write(HTTPClientRequestPart.head(requestHead("\(url.host):\(url.port)")), promise: nil)
        try await channel.writeAndFlush(HTTPClientRequestPart.end(nil)).get()
        try await upgraded.futureResult.get()
        return TestClient(channel: channel, inbound: stream)
    }

    private static func requestHead(_ host: String) -> HTTPRequestHead {
        HTTPRequestHead(
            version: .http1_1, method: .GET, uri: "/", headers: ["Host": host, "Content-Length": "0"])
    }

    private static func configure(
        _ channel: any Channel, _ answersClose: Bool, _ inbound: AsyncStream<Inbound>.Continuation,
        _ upgraded: EventLoopPromise<Void>
    ) throws {
        let upgrader = NIOWebSocketClientUpgrader(maxFrameSize: 1 << 24) { channel, _ in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(TestClientHandler(answersClose, inbound))
            }
        }
        let configuration: NIOHTTPClientUpgradeConfiguration = (
            upgraders: [upgrader], completionHandler: { _ in upgraded.succeed() }
        )
        try channel.pipeline.syncOperations.addHTTPClientHandlers(
            leftOverBytesStrategy: .forwardBytes, withClientUpgrade: configuration)
    }

    // MARK: Sending

    func send(_ message: ClientMessage) async throws {
        try await send(.text, message.json())
    }

    func send(_ events: [Event]) async throws {
        for event in events { try await send(.event(event)) }
    }

    func send(text: String) async throws {
        try await send(.text, Array(text.utf8))
    }

    func send(
        _ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true, masked: Bool = true
    ) async throws {
        let frame = WebSocketFrame(
            fin: fin, opcode: opcode, maskKey: masked ? .random() : nil, data: ByteBuffer(bytes: bytes))
        try await channel.writeAndFlush(frame).get()
    }

    func close() async throws {
        try await channel.close().get()
    }

    // MARK: Receiving

    /// Returns the next inbound item; each is returned once, in order.
    func receive() async -> Inbound? {
        var iterator = inbound.makeAsyncIterator()
        return await iterator.next()
    }

    func next() async throws -> RelayMessage {
        let inbound = await receive()
        guard case .message(let json) = inbound else { throw UnexpectedInbound(inbound: inbound) }
        return try RelayMessage(json: json)
    }

    /// Publishes and returns the relay's OK.
    func publish(_ event: Event) async throws -> (accepted: Bool, message: String) {
        try await send(.event(event))
        let answer = try await next()
        guard case .ok(event.id, let accepted, let message) = answer else {
            throw UnexpectedInbound(inbound: .message(answer.json()))
        }
        return (accepted, message)
    }

    /// Subscribes and returns the stored events up to EOSE.
    func request(_ name: String = "sub", _ filters: Filter...) async throws -> [Event] {
        try await send(.request(subscription: name, filters: filters))
        var events: [Event] = []
        while true {
            switch try await next() {
            case .event(name, let event): events.append(event)
            case .endOfStoredEvents(name): return events
            case let other: throw UnexpectedInbound(inbound: .message(other.json()))
            }
        }
    }
}

private final class TestClientHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let answersClose: Bool
    private let inbound: AsyncStream<TestClient.Inbound>.Continuation

    init(_ answersClose: Bool, _ inbound: AsyncStream<TestClient.Inbound>.Continuation) {
        self.answersClose = answersClose
        self.inbound = inbound
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        var bytes = frame.unmaskedData
        switch frame.opcode {
        case .text: inbound.yield(.message(Array(bytes.readableBytesView)))
        case .pong: inbound.yield(.pong(Array(bytes.readableBytesView)))
        case .connectionClose:
            inbound.yield(.close(bytes.readInteger(as: UInt16.self)))
            guard answersClose else { return }
            let answer = WebSocketFrame(fin: true, opcode: .connectionClose, maskKey: .random(), data: ByteBuffer())
            context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        inbound.yield(.end)
        inbound.finish()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
