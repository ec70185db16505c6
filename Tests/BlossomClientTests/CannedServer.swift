import NIOCore
import NIOPosix
import PikaCore

/// A server that sends the same text after the first bytes of every connection and then, unless it hangs, closes it.
@discardableResult
func withCannedServer<Value: Sendable>(
    _ answer: String?, _ body: (_ server: MediaURL) async throws -> Value
) async throws -> Value {
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .childChannelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(CannedAnswer(answer))
            }
        }
        .bind(host: "127.0.0.1", port: 0).get()
    let url = try MediaURL("http://127.0.0.1:\(channel.localAddress?.port ?? 0)")
    do {
        let value = try await body(url)
        try await channel.close()
        return value
    } catch {
        try await channel.close()
        throw error
    }
}

private final class CannedAnswer: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var answer: String?

    init(_ answer: String?) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard let text = self.answer else { return }
        self.answer = nil
        let bound = context.loopBound
        context.writeAndFlush(self.wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
            bound.value.close(promise: nil)
        }
    }
}
