import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import NIOWebSocket
import Nostr

extension SmallRelay {
    static var time: UnixTime { .systemTime }

    /// The NIP-11 document.
    var document: String? {
        switch defect {
        case .omitsInformation: nil
        case .claims(let text): text
        case .refusesLarge(let most): #"{"supported_nips":[9,40],"limitation":{"max_message_length":\#(most)}}"#
        default: #"{"supported_nips":[1,9,11,40,42],"software":"small"}"#
        }
    }

    /// Serves on a loopback port until `body` returns.
    func serve<Value>(tls: NIOSSLContext? = nil, _ body: (_ port: Int) async throws -> Value) async throws -> Value {
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try self.configure(channel, tls) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        do {
            let value = try await body(channel.localAddress?.port ?? 0)
            try await channel.close()
            return value
        } catch {
            try await channel.close()
            throw error
        }
    }

    private func configure(_ channel: any Channel, _ tls: NIOSSLContext?) throws {
        if let tls { try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls)) }
        let upgrader = NIOWebSocketServerUpgrader(
            maxFrameSize: 1 << 24,
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture([:]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(WebSocketHandler(self))
                }
            })
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (
                upgraders: [upgrader],
                completionHandler: { context in
                    context.pipeline.syncOperations.removeHandler(name: "document", promise: nil)
                }
            ))
        try channel.pipeline.syncOperations.addHandler(DocumentHandler(self), name: "document")
    }
}

private final class WebSocketHandler: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame

    private let relay: SmallRelay

    init(_ relay: SmallRelay) { self.relay = relay }

    func handlerAdded(context: ChannelHandlerContext) { relay.connected(context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        switch frame.opcode {
        case .text: relay.received(Array(frame.unmaskedData.readableBytesView), context.channel)
        case .connectionClose: context.close(promise: nil)
        default: break
        }
    }

    func channelInactive(context: ChannelHandlerContext) { relay.disconnected(context.channel) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}

/// Answers HTTP requests with the relay's document.
private final class DocumentHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let relay: SmallRelay

    init(_ relay: SmallRelay) { self.relay = relay }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .end = unwrapInboundIn(data) else { return }
        if relay.defect == .trickles { return trickle(context) }
        let body = ByteBuffer(string: relay.document ?? "")
        let head = HTTPResponseHead(
            version: .http1_1, status: relay.document == nil ? .notFound : .ok,
            headers: ["Content-Length": "\(body.readableBytes)", "Connection": "close"])
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    /// Sends a space ten times a second until the peer disconnects.
    private func trickle(_ context: ChannelHandlerContext) {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["Transfer-Encoding": "chunked"])
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.head(head)), promise: nil)
        channel.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: .milliseconds(100)) { task in
            guard channel.isActive else { return task.cancel() }
            let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(string: " ")))
            channel.writeAndFlush(part, promise: nil)
        }
    }
}
