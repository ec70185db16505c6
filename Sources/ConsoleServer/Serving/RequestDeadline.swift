import NIOCore
import NIOHTTPTypes

/// Closes a connection whose next request does not arrive completely in time.
///
/// The idle timeout of the server library restarts with each byte, so that a client which sends a byte a minute could
/// hold a connection for days, and all of them with some more.
final class RequestDeadline: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// The time for a request from the first moment of a connection, and from the end of the response before it.
    static let first = TimeAmount.seconds(10)
    static let next = TimeAmount.seconds(60)

    private var deadline: Scheduled<Void>?

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { start(Self.first, context) }
    }

    func channelActive(context: ChannelHandlerContext) {
        start(Self.first, context)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { deadline?.cancel() }
        context.fireChannelRead(data)
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { start(Self.next, context) }
        context.write(data, promise: promise)
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    private func start(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }
}
