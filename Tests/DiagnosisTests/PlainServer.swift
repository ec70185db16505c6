import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// Runs `body` with a web server that answers every request with 404.
func withPlainServer(tls: NIOSSLContext? = nil, _ body: (_ port: Int) async throws -> Void) async throws {
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                if let tls {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                }
                try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                try channel.pipeline.syncOperations.addHandler(NotFound())
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    do {
        try await body(channel.localAddress?.port ?? 0)
    } catch {
        try await channel.close()
        throw error
    }
    try await channel.close()
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
