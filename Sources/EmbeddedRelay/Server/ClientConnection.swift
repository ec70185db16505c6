import Logging
import NIOCore
import NIOWebSocket
import Nostr

/// One WebSocket client; runs on its event loop.
///
/// Handles messages one at a time. While a request is being answered, too many events await their commit, or the client
/// does not read its answers, further messages wait and reading from the socket stops.
final class ClientConnection: ChannelDuplexHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = Never
    typealias OutboundOut = WebSocketFrame

    enum Phase {
        case open
        /// The relay is stopping; the close frame is sent once every accepted event is answered and no query runs.
        case finishing
        /// The close frame has been sent.
        case closing
        case closed
    }

    let core: RelayCore
    let logger: Logger
    let client: ClientAddress
    var session: ClientSession
    var outbox: Outbox
    var phase = Phase.open
    /// The hub's number for this connection; 0 before it has joined.
    var number: UInt64 = 0
    var context: ChannelHandlerContext?
    var inbox = CircularBuffer<ByteBuffer>()
    var pendingEvents = 0
    var isAnswering = false
    var isHandlingInbox = false
    var isPumping = false
    /// The client's address, for the log.
    private(set) var address = "unknown"
    private var readIsHeld = false
    private var heardSincePing = true
    private var heartbeat: RepeatedTask?
    var stall: Scheduled<Void>?

    init(core: RelayCore, session: ClientSession, client: ClientAddress) {
        self.core = core
        self.client = client
        self.session = session
        logger = core.logger
        outbox = Outbox(backlogBytes: core.limits.backlogBytes)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let handle = ClientHandle(
            eventLoop: context.eventLoop, connection: NIOLoopBound(self, eventLoop: context.eventLoop))
        guard let number = core.hub.join(handle) else { return context.close(promise: nil) }
        self.number = number
        address = context.remoteAddress?.ipAddress ?? address
        core.trafficLog?.connected(address)
        let interval = TimeAmount(core.limits.idleTimeout)
        let bound = handle.connection
        heartbeat = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.checkHeartbeat()
        }
        session.opened().forEach(enqueue)
        pump()
    }

    func handlerRemoved(context: ChannelHandlerContext) { tearDown() }

    func channelInactive(context: ChannelHandlerContext) {
        tearDown()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        heardSincePing = true
        guard phase != .closed else { return }
        switch frame.opcode {
        case .text:
            guard phase == .open else { break }
            // The decoder admits the longer messages of calls.
            guard frame.length <= core.limits.messageBytes else { return close(.messageTooLarge) }
            inbox.append(frame.unmaskedData)
        // If the client does not read, skip the pong: RFC 6455 §5.5.3 lets a later one answer earlier pings.
        case .ping: if isWritable { write(.pong, frame.unmaskedData) }
        case .connectionClose: answerClose(frame.unmaskedData)
        case .pong: break
        case .binary: close(.unacceptableData)
        default: close(.protocolError)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        handleInbox()
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if isBusy { readIsHeld = true } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable {
            pump()
            handleInbox()
        }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("Client connection failed", metadata: ["error": "\(error)"])
        // NIO's own handler has sent the close frame for errors of the frame decoder.
        if error is NIOWebSocketError { return }
        if error is MaskingRule.Violation { return close(.protocolError) }
        guard let error = error as? NIOWebSocketFrameAggregator.Error else { return context.close(promise: nil) }
        switch error {
        case .accumulatedFrameSizeIsTooLarge, .tooManyFragments, .nonFinalFragmentSizeIsTooSmall:
            close(.messageTooLarge)
        case .receivedNewFrameWithoutFinishingPrevious, .didReceiveFragmentBeforeReceivingTextOrBinaryFrame:
            close(.protocolError)
        }
    }

    // MARK: Reading

    private var isWritable: Bool { context?.channel.isWritable ?? false }

    /// Whether the next message has to wait. A client that does not read its answers gets no further ones.
    var isBusy: Bool {
        isAnswering || pendingEvents >= core.limits.pendingEventsPerConnection || !isWritable
    }

    /// Resumes reading if it was paused and there is room again.
    func resumeReading() {
        guard readIsHeld, !isBusy else { return }
        readIsHeld = false
        context?.read()
    }

    private func checkHeartbeat() {
        guard phase == .open else { return }
        // While reading is held, the pong cannot be received; the stall timeout applies instead.
        guard heardSincePing || readIsHeld else {
            context?.close(promise: nil)
            return
        }
        heardSincePing = false
        write(.ping, ByteBuffer())
    }

    private func tearDown() {
        guard phase != .closed else { return }
        phase = .closed
        core.trafficLog?.disconnected(address)
        core.hub.leave(number, serials: session.feeds.values.map(\.serial))
        heartbeat?.cancel()
        stall?.cancel()
        inbox.removeAll()
        outbox.removeAll()
        context = nil
    }
}
