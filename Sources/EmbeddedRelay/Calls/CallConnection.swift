import CallWire
import Logging
import NIOCore
import NIOWebSocket
import Nostr

/// One client of the call relay; runs on its event loop.
///
/// Its messages are handled at once, and never wait: frames beyond its rate are dropped, and so are the oldest ones that
/// it does not read.
final class CallConnection: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private enum Phase {
        case open, closing, closed
    }

    private let core: RelayCore
    private let limits: CallLimits
    private let client: ClientAddress
    private var outbox: CallOutbox
    private var groupRate: TokenBucket
    private var byteRate: TokenBucket
    private var phase = Phase.open
    /// The hub's number for this connection; 0 before it has joined.
    private var number: UInt64 = 0
    private var context: ChannelHandlerContext?
    private var isPumping = false
    private var hasHeardSincePing = true
    /// Consecutive pings without an open channel.
    private var idlePings = 0
    private var heartbeat: RepeatedTask?
    private var deadline: Scheduled<Void>?

    init(core: RelayCore, client: ClientAddress) {
        self.core = core
        self.client = client
        self.limits = core.configuration.limits.calls
        self.outbox = CallOutbox(self.limits)
        let now = core.now()
        self.groupRate = TokenBucket(perSecond: self.limits.groupsPerSecond, now: now)
        self.byteRate = TokenBucket(perSecond: self.limits.bytesPerSecond, now: now)
    }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.number = self.core.calls.join(CallHandle(eventLoop: context.eventLoop, connection: bound))
        let interval = TimeAmount(self.limits.pingInterval)
        self.heartbeat = context.eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
            bound.value.checkHeartbeat()
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.tearDown() }

    func channelInactive(context: ChannelHandlerContext) {
        self.tearDown()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        self.hasHeardSincePing = true
        guard self.phase != .closed else { return }
        switch frame.opcode {
        case .binary: if self.phase == .open { self.receive(Array(frame.unmaskedData.readableBytesView)) }
        // If the client does not read, skip the pong: RFC 6455 §5.5.3 lets a later one answer earlier pings.
        case .ping: if context.channel.isWritable { self.write(.pong, frame.unmaskedData) }
        case .connectionClose: self.answerClose(frame.unmaskedData)
        case .pong: break
        case .text: self.close(.unacceptableData)
        default: self.close(.protocolError)
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { self.pump() }
        context.fireChannelWritabilityChanged()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.core.logger.debug("Call connection failed", metadata: ["error": "\(error)"])
        // NIO's own handler has sent the close frame for errors of the frame decoder.
        if error is NIOWebSocketError { return }
        if error is MaskingRule.Violation { return self.close(.protocolError) }
        guard error is NIOWebSocketFrameAggregator.Error else { return context.close(promise: nil) }
        self.close(.messageTooLarge)
    }

    // MARK: Messages

    private func receive(_ bytes: [UInt8]) {
        let message: CallClientMessage
        do throws(CallWireError) { message = try CallClientMessage(bytes: bytes) } catch {
            return self.close(error == .tooLong ? .messageTooLarge : .protocolError)
        }
        switch message {
        case .publish(let channel, let id): self.open(channel, .publisher, id)
        case .subscribe(let channel, let id): self.open(channel, .subscriber, id)
        case .close(let channel): self.core.calls.close(self.member(channel))
        case .group(let channel, let group):
            let now = self.core.now()
            guard self.groupRate.consume(at: now), self.byteRate.consume(group.payload.count, at: now) else { return }
            self.core.calls.forward(group, from: self.member(channel))
        }
    }

    private func open(_ channel: UInt16, _ role: CallTracks.Role, _ id: CallTrackID) {
        guard self.core.consumeMessage(of: self.client) else { return self.close(.policyViolation) }
        self.core.calls.open(self.member(channel), role, of: id)
    }

    private func member(_ channel: UInt16) -> CallTracks.Member {
        CallTracks.Member(connection: self.number, channel: channel)
    }

    /// Queues a message of the hub.
    func deliver(_ message: CallRelayMessage) {
        guard self.phase == .open else { return }
        self.outbox.append(message)
        self.pump()
    }

    /// Writes as much as the socket accepts.
    private func pump() {
        guard !self.isPumping, let context, self.phase == .open else { return }
        self.isPumping = true
        var wrote = true
        while wrote {
            wrote = false
            while context.channel.isWritable, let message = self.outbox.popFirst() {
                let frame = WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: message.bytes))
                context.write(self.wrapOutboundOut(frame), promise: nil)
                wrote = true
            }
            if wrote { context.flush() }
        }
        self.isPumping = false
    }

    private func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        let frame = WebSocketFrame(fin: true, opcode: opcode, data: data)
        self.context?.writeAndFlush(self.wrapOutboundOut(frame), promise: nil)
    }

    // MARK: Liveness and closing

    private func checkHeartbeat() {
        guard self.phase == .open, let context else { return }
        guard self.hasHeardSincePing else { return context.close(promise: nil) }
        self.hasHeardSincePing = false
        if self.core.calls.hasChannels(self.number) {
            self.idlePings = 0
        } else {
            self.idlePings += 1
            let idle = self.limits.pingInterval * self.idlePings
            if idle >= self.limits.idleTimeout { return self.close(.normalClosure) }
        }
        self.write(.ping, ByteBuffer())
    }

    /// Handles the relay's shutdown.
    func goAway() { self.close(.goingAway) }

    /// Starts the closing handshake; the client's close frame ends the connection.
    private func close(_ code: WebSocketErrorCode) {
        guard self.phase == .open, let context else { return }
        self.phase = .closing
        self.outbox.removeAll()
        self.core.calls.leave(self.number)
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        self.write(.connectionClose, data)
        // Bounds the wait: some clients never answer a close frame.
        let bound = NIOLoopBound(self, eventLoop: context.eventLoop)
        self.deadline = context.eventLoop.scheduleTask(in: TimeAmount(self.core.closeTimeout)) {
            bound.value.context?.close(promise: nil)
        }
    }

    private func answerClose(_ data: ByteBuffer) {
        guard let context else { return }
        guard self.phase == .open else { return context.close(promise: nil) }
        self.phase = .closing
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        let bound = context.loopBound
        context.writeAndFlush(self.wrapOutboundOut(frame)).whenComplete { _ in bound.value.close(promise: nil) }
    }

    private func tearDown() {
        guard self.phase != .closed else { return }
        self.phase = .closed
        self.core.calls.leave(self.number)
        if self.outbox.dropped > 0 {
            self.core.logger.debug("Frames dropped for a slow reader", metadata: ["frames": "\(self.outbox.dropped)"])
        }
        self.heartbeat?.cancel()
        self.deadline?.cancel()
        self.outbox.removeAll()
        self.context = nil
    }
}
