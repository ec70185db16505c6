import NIOCore
import NIOPosix

/// Sends raw bytes and returns the entire response, up to the server's close.
func exchange(_ text: String, address: String) async throws -> String {
    let parts = address.dropFirst("ws://".count).split(separator: ":")
    let group = MultiThreadedEventLoopGroup.singleton
    let answer = group.next().makePromise(of: String.self)
    let channel = try await ClientBootstrap(group: group)
        .channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(Collector(answer))
            }
        }
        .connect(host: String(parts[0]), port: Int(parts[1]) ?? 0).get()
    try await channel.writeAndFlush(ByteBuffer(string: text)).get()
    return try await answer.futureResult.get()
}

private final class Collector: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private var bytes = ByteBuffer()
    private let answer: EventLoopPromise<String>

    init(_ answer: EventLoopPromise<String>) {
        self.answer = answer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        bytes.writeBuffer(&part)
    }

    func channelInactive(context: ChannelHandlerContext) {
        answer.succeed(String(buffer: bytes))
    }
}
