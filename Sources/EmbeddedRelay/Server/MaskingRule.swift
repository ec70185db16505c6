import NIOCore
import NIOWebSocket

/// RFC 6455 §5.1: a client masks every frame, or the server closes.
///
/// A handler of its own, because whether a frame was masked is lost when fragments are joined.
final class MaskingRule: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias InboundOut = WebSocketFrame

    struct Violation: Error {}

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if unwrapInboundIn(data).maskKey == nil {
            context.fireErrorCaught(Violation())
        } else {
            context.fireChannelRead(data)
        }
    }
}
