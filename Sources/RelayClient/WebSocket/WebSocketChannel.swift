package import NIOCore
package import NIOWebSocket
import Synchronization

extension ByteBuffer {
    /// Creates the payload of a close frame (RFC 6455 section 5.5.1).
    init(closing code: WebSocketErrorCode) {
        self.init()
        write(webSocketErrorCode: code)
    }
}

/// A client's open WebSocket: frames are read one at a time, by one task, and written in order.
///
/// While the reader lags, nothing is read from the socket, so that TCP slows the peer down. The owner closes it.
package final class WebSocketChannel: Sendable {
    private let channel: any Channel
    private let generator: SharedGenerator
    private let incoming: IncomingFrames
    private let unwritten = Atomic<Int>(0)

    /// Takes over a channel whose pipeline decodes and encodes frames. Must be called on its event loop.
    ///
    /// - Parameter generator: Source of the masking keys.
    init(wrapping channel: any Channel, generator: SharedGenerator) throws {
        self.channel = channel
        self.generator = generator
        incoming = IncomingFrames()
        try channel.pipeline.syncOperations.addHandler(incoming)
    }

    // MARK: Reading

    /// Returns the next frame, or nil if the peer has closed the connection. Throws the connection's error, and
    /// `CancellationError`.
    package func next(isolation: isolated (any Actor)? = #isolation) async throws -> WebSocketFrame? {
        while true {
            switch incoming.take() {
            case .frame(let frame, let resumesReading):
                if resumesReading { channel.read() }
                return frame
            case .end: return nil
            case .failure(let error): throw error
            case .nothing: await incoming.wait()
            }
        }
    }

    // MARK: Writing

    /// Queues a frame without waiting. When writing fails, the connection ends, which the reader learns.
    ///
    /// - Parameter limit: The most frames that may wait for the socket.
    /// - Returns: False if there was no room; the frame is dropped.
    package func enqueue(_ opcode: WebSocketOpcode, _ data: ByteBuffer, limit: Int) -> Bool {
        guard unwritten.load(ordering: .relaxed) < limit else { return false }
        unwritten.wrappingAdd(1, ordering: .relaxed)
        channel.writeAndFlush(frame(opcode, data)).whenComplete { [self] _ in
            unwritten.wrappingSubtract(1, ordering: .relaxed)
        }
        return true
    }

    /// Writes a frame, and waits until the socket has taken it. Cancellation closes the connection.
    package func write(_ opcode: WebSocketOpcode, _ data: ByteBuffer) async throws {
        try await withTaskCancellationHandler {
            try await channel.writeAndFlush(frame(opcode, data)).get()
        } onCancel: {
            abort()
        }
    }

    private func frame(_ opcode: WebSocketOpcode, _ data: ByteBuffer) -> WebSocketFrame {
        var generator = generator
        return WebSocketFrame(fin: true, opcode: opcode, maskKey: .random(using: &generator), data: data)
    }

    // MARK: Closing

    /// Queues a close frame, and closes the connection when the socket has taken it.
    package func finish(_ code: WebSocketErrorCode) {
        channel.writeAndFlush(frame(.connectionClose, ByteBuffer(closing: code))).whenComplete { [self] _ in abort() }
    }

    /// Closes the connection at once. The reader gets the frames that have arrived, then an error.
    package func abort() {
        incoming.end(ChannelError.alreadyClosed)
        channel.close(promise: nil)
    }

    /// Closes the connection, and waits until it is closed.
    package func close() async {
        abort()
        // It never fails.
        try? await channel.closeFuture.get()
    }

    /// Closes the connection after `body`.
    package func closing<Value>(_ body: () async throws -> Value) async throws -> Value {
        let value: Value
        do { value = try await body() } catch {
            await close()
            throw error
        }
        await close()
        return value
    }
}

/// The end of a pipeline: keeps the frames that were read until they are taken.
private final class IncomingFrames: ChannelInboundHandler, ChannelOutboundHandler, Sendable {
    typealias InboundIn = WebSocketFrame
    typealias OutboundIn = WebSocketFrame

    enum Taken {
        case frame(WebSocketFrame, resumesReading: Bool)
        case end
        case failure(any Error)
        case nothing
    }

    private struct State {
        var frames = Queue<WebSocketFrame>()
        /// Why no frame follows: an error, or nil for the peer's end.
        var end: (any Error)??
        var reader: CheckedContinuation<Void, Never>?
        /// Whether a read was withheld from the socket.
        var withholdsRead = false
    }

    /// The socket is not read while this many frames wait, and read again when a few are left. One read may add several.
    private static let (mostFrames, fewFrames) = (10, 2)
    private let state = Mutex(State())

    // MARK: The reader's side

    func take() -> Taken {
        state.withLock { state in
            guard let frame = state.frames.popFirst() else {
                switch state.end {
                case .some(.some(let error)): return .failure(error)
                case .some(.none): return .end
                case .none: return .nothing
                }
            }
            let resumes = state.withholdsRead && state.frames.count <= Self.fewFrames
            if resumes { state.withholdsRead = false }
            return .frame(frame, resumesReading: resumes)
        }
    }

    /// Waits until there is something to take. Cancellation is an end with an error.
    func wait(isolation: isolated (any Actor)? = #isolation) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isReady = state.withLock { state in
                    guard state.frames.isEmpty, state.end == nil else { return true }
                    precondition(state.reader == nil, "a WebSocket allows only one reader")
                    state.reader = reader
                    return false
                }
                if isReady { reader.resume() }
            }
        } onCancel: {
            end(CancellationError())
        }
    }

    /// Ends the frames unless they have ended.
    func end(_ error: (any Error)?) {
        change { state in if state.end == nil { state.end = .some(error) } }
    }

    private func change(_ change: (inout State) -> Void) {
        let reader = state.withLock { state in
            change(&state)
            return state.reader.take()
        }
        reader?.resume()
    }

    // MARK: The channel's side

    func handlerAdded(context: ChannelHandlerContext) {
        guard !context.channel.isActive else { return }
        // The peer closed the connection while the upgrade was handled. What it sent before follows in this turn of the
        // event loop.
        context.eventLoop.execute { [self] in end(nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        change { $0.frames.append(frame) }
    }

    func read(context: ChannelHandlerContext) {
        let admits = state.withLock { state in
            state.withholdsRead = state.frames.count >= Self.mostFrames
            return !state.withholdsRead
        }
        if admits { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { end(error) }

    func channelInactive(context: ChannelHandlerContext) {
        end(nil)
        context.fireChannelInactive()
    }
}
