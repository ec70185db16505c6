import NIOCore
import NIOWebSocket

/// Enforces RFC 6455 §5.1: a client masks every frame, or the server closes.
///
/// A separate handler, because reassembly of fragments loses whether each frame was masked.
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
