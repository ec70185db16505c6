import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Serves HTTP requests of one connection, one at a time.
final class SimulatorConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    static let maximumBody = 1 << 20
    static let boundary = "picture"
    /// Pictures per second of the camera.
    static let pictureRate: Int64 = 12

    private let hub: SimulatorHub
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var camera: RepeatedTask?
    private var pictureNumber = 0
    /// The answer to a request for a WebSocket that was refused.
    var socketRefusal: SimulatedResponse?

    init(hub: SimulatorHub) { self.hub = hub }

    static func request(_ head: HTTPRequestHead, body: [UInt8] = []) -> SimulatedRequest {
        SimulatedRequest(
            head.method.rawValue, head.uri, authorization: head.headers["Authorization"].first,
            idempotencyKey: head.headers["Idempotency-Key"].first, ifMatch: head.headers["If-Match"].first, body: body)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            self.body.clear()
        case .body(var part):
            guard self.body.readableBytes + part.readableBytes <= Self.maximumBody else {
                return context.close(promise: nil)
            }
            self.body.writeBuffer(&part)
        case .end:
            guard let head = self.head else { return }
            self.head = nil
            let refusal = self.socketRefusal
            self.socketRefusal = nil
            let response = refusal ?? self.hub.respond(Self.request(head, body: Array(self.body.readableBytesView)))
            self.send(response, to: head, context)
        }
    }

    private func send(_ response: SimulatedResponse, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard response.delay > 0 else { return self.write(response, to: head, context) }
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: .milliseconds(Int64(response.delay))) {
            let (connection, context) = bound.value
            connection.write(response, to: head, context)
        }
    }

    private func write(_ response: SimulatedResponse, to head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        switch response.content {
        case .nothing: context.close(promise: nil)
        case .pictures: self.startCamera(head, context)
        case .bytes(let bytes, let type):
            var headers: HTTPHeaders = ["Content-Type": type, "Connection": head.isKeepAlive ? "keep-alive" : "close"]
            if response.status != 204 { headers.add(name: "Content-Length", value: String(bytes.count)) }
            let status = HTTPResponseStatus(statusCode: response.status)
            let answer = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
            context.write(self.wrapOutboundOut(.head(answer)), promise: nil)
            if !bytes.isEmpty, head.method != .HEAD {
                context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            let written = context.writeAndFlush(self.wrapOutboundOut(.end(nil)))
            guard !head.isKeepAlive else { return }
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            written.whenComplete { _ in bound.value.close(promise: nil) }
        }
    }

    // MARK: Camera

    private func startCamera(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let headers: HTTPHeaders = ["Content-Type": "multipart/x-mixed-replace; boundary=\(Self.boundary)"]
        let answer = HTTPResponseHead(version: head.version, status: .ok, headers: headers)
        context.writeAndFlush(self.wrapOutboundOut(.head(answer)), promise: nil)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let interval = TimeAmount.milliseconds(1_000 / Self.pictureRate)
        self.camera = context.eventLoop.scheduleRepeatedTask(initialDelay: .zero, delay: interval) { _ in
            let (connection, context) = bound.value
            connection.writePicture(context)
        }
    }

    /// Sends one part; a slow reader misses pictures instead of delaying them.
    private func writePicture(_ context: ChannelHandlerContext) {
        let faults = self.hub.cloud.faults
        guard faults.localOffline != true else { return context.close(promise: nil) }
        guard context.channel.isWritable else { return }
        self.pictureNumber &+= 1
        let picture = SamplePicture.jpeg(number: self.pictureNumber)
        let length = faults.omitContentLength == true ? "" : "Content-Length: \(picture.count)\r\n"
        var part = ByteBuffer(string: "--\(Self.boundary)\r\nContent-Type: image/jpeg\r\n\(length)\r\n")
        part.writeBytes(picture)
        part.writeString("\r\n")
        context.writeAndFlush(self.wrapOutboundOut(.body(.byteBuffer(part))), promise: nil)
    }

    private func stopCamera() {
        self.camera?.cancel()
        self.camera = nil
    }

    // MARK: Channel events

    func handlerRemoved(context: ChannelHandlerContext) { self.stopCamera() }

    func channelInactive(context: ChannelHandlerContext) {
        self.stopCamera()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // After a refused upgrade, the request follows as plain HTTP.
        if error is NIOWebSocketUpgradeError { return }
        context.close(promise: nil)
    }
}

/// The server's side of a WebSocket of live events: answers pings and the closing handshake, ignores messages.
final class SimulatorSocket: ChannelInboundHandler {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    private let hub: SimulatorHub
    private let sequence: Int

    init(hub: SimulatorHub, after sequence: Int) {
        self.hub = hub
        self.sequence = sequence
    }

    func handlerAdded(context: ChannelHandlerContext) { self.hub.join(context.channel, after: self.sequence) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = self.unwrapInboundIn(data)
        switch frame.opcode {
        case .ping:
            let pong = WebSocketFrame(fin: true, opcode: .pong, data: frame.unmaskedData)
            context.writeAndFlush(self.wrapOutboundOut(pong), promise: nil)
        case .connectionClose:
            let close = WebSocketFrame(fin: true, opcode: .connectionClose, data: frame.unmaskedData)
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            context.writeAndFlush(self.wrapOutboundOut(close)).whenComplete { _ in bound.value.close(promise: nil) }
        default: break
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
