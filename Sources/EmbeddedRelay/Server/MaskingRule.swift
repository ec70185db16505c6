import NIOCore
import NIOWebSocket

/// Enforces RFC 6455 §5.1: the server closes the connection of a client that sends an unmasked frame.
///
/// A separate handler, because the mask of each frame is no longer known after fragments are reassembled.
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
