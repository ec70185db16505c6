import Logging
import NIOCore
import NIOWebSocket
import Nostr

extension ClientConnection {
    func enqueue(_ message: RelayMessage) {
        outbox.append(ByteBuffer(bytes: message.json()))
    }

    /// Writes as much as the socket accepts.
    func pump() {
        guard !isPumping, let context, phase == .open || phase == .finishing else { return }
        isPumping = true
        var wrote = true
        while wrote {
            wrote = false
            while context.channel.isWritable, let message = outbox.popFirst() {
                context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: message)), promise: nil)
                wrote = true
            }
            if wrote { context.flush() }
        }
        isPumping = false
        watchStall(context)
    }

    /// Closes the connection of a client that accepts no bytes for a while, even if its socket stays open.
    private func watchStall(_ context: ChannelHandlerContext) {
        if context.channel.isWritable {
            stall?.cancel()
            stall = nil
        } else if stall == nil {
            let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
            stall = context.eventLoop.scheduleTask(in: TimeAmount(core.limits.stallTimeout)) {
                connection.value.disconnectSlowClient()
            }
        }
    }

    func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(WebSocketFrame(fin: true, opcode: opcode, data: data)), promise: nil)
    }

    // MARK: Closing

    /// Closes the connection of a client that is too slow; its socket is full, so no close frame would get through.
    func disconnectSlowClient() {
        logger.info("Slow client disconnected", metadata: ["waiting.bytes": "\(outbox.liveBytes)"])
        outbox.removeAll()
        context?.close(promise: nil)
    }

    /// Handles the relay's shutdown: answers accepted messages, then closes with 1001.
    func goAway() {
        guard phase == .open else { return }
        phase = .finishing
        inbox.removeAll()
        finish()
    }

    func finish() {
        guard pendingEvents == 0, !isAnswering, let context else { return }
        while let message = outbox.popFirst() {
            context.write(wrapOutboundOut(WebSocketFrame(fin: true, opcode: .text, data: message)), promise: nil)
        }
        close(.goingAway)
    }

    /// Starts the closing handshake; the client's close frame ends the connection.
    func close(_ code: WebSocketErrorCode) {
        guard phase == .open || phase == .finishing else { return }
        phase = .closing
        inbox.removeAll()
        outbox.removeAll()
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        write(.connectionClose, data)
        resumeReading()
        // Bounds the wait: some clients never answer a close frame.
        guard let context else { return }
        let connection = NIOLoopBound(self, eventLoop: context.eventLoop)
        stall?.cancel()
        stall = context.eventLoop.scheduleTask(in: TimeAmount(core.closeTimeout)) {
            connection.value.context?.close(promise: nil)
        }
    }

    /// Handles the client's close frame, which starts the handshake or answers ours.
    func answerClose(_ data: ByteBuffer) {
        guard let context else { return }
        guard phase != .closing else { return context.close(promise: nil) }
        phase = .closing
        let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
        let bound = context.loopBound
        context.writeAndFlush(wrapOutboundOut(frame)).whenComplete { _ in bound.value.close(promise: nil) }
    }
}
