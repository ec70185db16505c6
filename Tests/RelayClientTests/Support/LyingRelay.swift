import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Synchronization

/// A WebSocket server that sends arbitrary frames and texts, valid or not.
final class LyingRelay: Sendable {
    /// The connection of one client.
    final class Conversation: Sendable {
        enum Heard: Hashable, Sendable {
            case text(String)
            case ping
            case pong([UInt8])
            case close
            case end
        }

        let channel: any Channel
        private let heard: AsyncStream<Heard>
        fileprivate let hear: AsyncStream<Heard>.Continuation

        fileprivate init(_ channel: any Channel) {
            self.channel = channel
            (heard, hear) = AsyncStream.makeStream()
        }

        func next() async -> Heard? {
            var iterator = heard.makeAsyncIterator()
            return await iterator.next()
        }

        /// Returns the next text, skipping other frames.
        func text() async -> String? {
            while let heard = await next() {
                if case .text(let text) = heard { return text }
                if heard == .end { return nil }
            }
            return nil
        }

        /// Returns when the client has closed the connection.
        func end() async {
            while let heard = await next(), heard != .end {}
        }

        func say(_ text: String) { send(.text, Array(text.utf8)) }

        func send(_ opcode: WebSocketOpcode, _ bytes: [UInt8], fin: Bool = true, masked: Bool = false) {
            let key: WebSocketMaskingKey? = masked ? [1, 2, 3, 4] : nil
            let frame = WebSocketFrame(fin: fin, opcode: opcode, maskKey: key, data: ByteBuffer(bytes: bytes))
            channel.writeAndFlush(frame, promise: nil)
        }

        /// Sends raw bytes without framing.
        func sendRaw(_ bytes: [UInt8]) {
            channel.eventLoop.execute { [channel] in
                let context = try? channel.pipeline.syncOperations.context(handlerType: WebSocketFrameEncoder.self)
                context?.writeAndFlush(NIOAny(ByteBuffer(bytes: bytes)), promise: nil)
            }
        }

        func hangUp() { channel.close(promise: nil) }
    }

    private final class Listener: ChannelInboundHandler {
        typealias InboundIn = WebSocketFrame

        private let conversation: Conversation
        private let answersClose: Bool

        init(_ conversation: Conversation, _ answersClose: Bool) {
            self.conversation = conversation
            self.answersClose = answersClose
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let frame = unwrapInboundIn(data)
            // RFC 6455 section 5.3: a client masks everything it sends.
            guard frame.maskKey != nil else { return context.close(promise: nil) }
            let bytes = Array(frame.unmaskedData.readableBytesView)
            switch frame.opcode {
            case .text: conversation.hear.yield(.text(String(decoding: bytes, as: UTF8.self)))
            case .ping: conversation.hear.yield(.ping)
            case .pong: conversation.hear.yield(.pong(bytes))
            case .connectionClose:
                conversation.hear.yield(.close)
                guard answersClose else { return }
                conversation.send(.connectionClose, bytes)
                context.close(promise: nil)
            default: context.close(promise: nil)
            }
        }

        func channelInactive(context: ChannelHandlerContext) {
            conversation.hear.yield(.end)
            conversation.hear.finish()
        }
    }

    let port: Int
    private let listener: any Channel
    private let conversations: AsyncStream<Conversation>

    private init(_ listener: any Channel, _ conversations: AsyncStream<Conversation>) {
        self.listener = listener
        self.conversations = conversations
        port = listener.localAddress?.port ?? 0
    }

    /// - Parameters:
    ///   - tls: Nil for `ws://`.
    ///   - upgrades: False to answer requests with 404.
    ///   - greeting: Sent together with the answer to the upgrade.
    ///   - answersClose: False to leave the closing handshake to its timeout.
    static func start(
        tls: NIOSSLContext? = nil, upgrades: Bool = true, answersClose: Bool = true, greeting: String? = nil
    ) async throws -> LyingRelay {
        let (conversations, accepted) = AsyncStream<Conversation>.makeStream()
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    let upgrader = NIOWebSocketServerUpgrader(
                        maxFrameSize: 1 << 24,
                        shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(upgrades ? [:] : nil) },
                        upgradePipelineHandler: { channel, _ in
                            let conversation = Conversation(channel)
                            accepted.yield(conversation)
                            return channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(Listener(conversation, answersClose))
                                if let greeting { conversation.say(greeting) }
                            }
                        })
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(
                        withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }))
                    if !upgrades { try channel.pipeline.syncOperations.addHandler(NotFound()) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return LyingRelay(listener, conversations)
    }

    private final class NotFound: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            let head = HTTPResponseHead(version: .http1_1, status: .notFound, headers: ["Content-Length": "0"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func nextClient() async throws -> Conversation {
        var iterator = conversations.makeAsyncIterator()
        guard let conversation = await iterator.next() else { throw CancellationError() }
        return conversation
    }

    func stop() async throws {
        try await listener.close().get()
    }
}
