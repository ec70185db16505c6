import Logging
import NIOCore
import NIOHTTP1
import Nostr

/// Serves plain HTTP requests; leaves the pipeline when the connection becomes a WebSocket.
final class HTTPConnection: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Exchange {
        let head: HTTPRequestHead
        let resolution: HTTPRouter.Resolution
        var body = ByteBuffer()
        var isTooLarge = false
    }

    private enum Phase {
        case idle
        /// A short body is being collected in memory.
        case gathering(Exchange)
        /// A long body is being streamed to its sink.
        case streaming(HTTPRequestHead, any HTTPBodySink)
        /// The response was sent before the body ended; the rest of the body is discarded.
        case discarding(left: Int, answered: EventLoopFuture<Void>)
        /// The request is complete, and its response is being sent.
        case answering
    }

    /// Bytes queued for a sink beyond which reading from the socket stops.
    private static let maximumUnwritten = 1 << 20

    private let router: HTTPRouter
    private let maximumDiscarded: Int
    private let now: @Sendable () -> UnixTime
    private let logger: Logger
    private let admits: @Sendable () -> Bool
    private var phase = Phase.idle
    private var unwritten = 0
    private var readIsHeld = false
    /// Whether the client has accepted bytes since the last idle check.
    private var hasProgressed = false

    /// - Parameters:
    ///   - maximumDiscarded: maximum number of bytes read of a refused body, so that the client gets the response.
    ///   - now: the clock of the header `Date`.
    ///   - admits: called once per request; false if the client exceeds its rate.
    init(
        router: HTTPRouter, maximumDiscarded: Int, now: @escaping @Sendable () -> UnixTime, logger: Logger,
        admits: @escaping @Sendable () -> Bool
    ) {
        self.router = router
        self.maximumDiscarded = maximumDiscarded
        self.now = now
        self.logger = logger
        self.admits = admits
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): begin(head, context)
        case .body(let part): receive(part, context)
        case .end: end(context)
        }
    }

    private func begin(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard admits() else { return refuse(HTTPRefusal(.tooManyRequests, "slow down"), head, context) }
        let resolution = router.resolve(head)
        guard case .route(let route) = resolution, let open = route.openBody else {
            phase = .gathering(Exchange(head: head, resolution: resolution))
            return
        }
        do {
            phase = .streaming(head, try open(head, context.eventLoop))
            if head.headers[canonicalForm: "Expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let interim = HTTPResponseHead(version: head.version, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(interim)), promise: nil)
            }
        } catch { refuse(error, head, context) }
    }

    private func receive(_ part: ByteBuffer, _ context: ChannelHandlerContext) {
        switch phase {
        case .gathering(var exchange): phase = .gathering(Self.gather(part, &exchange))
        case .streaming(let head, let sink):
            let count = part.readableBytes
            unwritten += count
            sink.receive(part).assumeIsolated().whenComplete { result in
                self.unwritten -= count
                if case .failure(let error) = result { self.streamFailed(error, head, sink, context) }
                self.resumeReading(context)
            }
        case .discarding(let left, let answered):
            let rest = left - part.readableBytes
            phase = .discarding(left: rest, answered: answered)
            if rest < 0 { context.close(promise: nil) }
        case .idle, .answering: break
        }
    }

    private static func gather(_ part: ByteBuffer, _ exchange: inout Exchange) -> Exchange {
        guard !exchange.isTooLarge else { return exchange }
        let most = if case .route(let route) = exchange.resolution { route.maximumBody } else { 0 }
        if exchange.body.readableBytes + part.readableBytes > most {
            exchange.isTooLarge = true
        } else {
            exchange.body.writeImmutableBuffer(part)
        }
        return exchange
    }

    private func streamFailed(
        _ error: any Error, _ head: HTTPRequestHead, _ sink: any HTTPBodySink, _ context: ChannelHandlerContext
    ) {
        // Once the body is complete, the failure is reported by finish().
        guard case .streaming(_, let current) = phase, current === sink else { return }
        sink.abandon()
        refuse(error, head, context)
    }

    /// Responds before the body has ended; the connection can serve no further request then.
    private func refuse(_ error: any Error, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var answer = self.answer(to: error)
        answer.headers.replaceOrAdd(name: "Connection", value: "close")
        phase = .discarding(left: maximumDiscarded, answered: send(answer, to: head, isLast: true, context))
    }

    private func end(_ context: ChannelHandlerContext) {
        switch phase {
        case .gathering(let exchange):
            phase = .answering
            answer(exchange, context)
        case .streaming(let head, let sink):
            phase = .answering
            sink.finish().assumeIsolated().whenComplete { self.write($0, to: head, context) }
        case .discarding(_, let answered):
            phase = .answering
            answered.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        case .idle, .answering: break
        }
    }

    // MARK: Responses

    private func answer(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        switch exchange.resolution {
        case _ where exchange.isTooLarge:
            write(.success(.text(.payloadTooLarge, "the body is too large\n")), to: exchange.head, context)
        case .answer(let answer):
            write(.success(answer), to: exchange.head, context)
        case .route(let route):
            let head = exchange.head
            route.respond(HTTPRequest(head: head, body: exchange.body), context.eventLoop)
                .assumeIsolated().whenComplete { self.write($0, to: head, context) }
        }
    }

    private func answer(to error: any Error) -> HTTPAnswer {
        if let refusal = error as? HTTPRefusal { return refusal.answer }
        logger.error("An HTTP request failed", metadata: ["error": "\(error)"])
        return .text(.internalServerError, "internal error\n")
    }

    private func write(
        _ result: Result<HTTPAnswer, any Error>, to request: HTTPRequestHead, _ context: ChannelHandlerContext
    ) {
        let answer: HTTPAnswer
        switch result {
        case .success(let value): answer = value
        case .failure(let error): answer = self.answer(to: error)
        }
        let isLast = !request.isKeepAlive
        send(answer, to: request, isLast: isLast, context).assumeIsolated().whenComplete { _ in
            if isLast { context.close(promise: nil) }
        }
    }

    /// Sends a response; the future completes when the client has received all of it or is gone.
    private func send(
        _ answer: HTTPAnswer, to request: HTTPRequestHead, isLast: Bool, _ context: ChannelHandlerContext
    ) -> EventLoopFuture<Void> {
        let head = answer.head(to: request, isLast: isLast, now: now())
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        guard request.method != .HEAD, let file = answer.file else {
            if request.method != .HEAD, answer.body.readableBytes > 0 {
                context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
            }
            return context.writeAndFlush(wrapOutboundOut(.end(nil)))
        }
        let done = context.eventLoop.makePromise(of: Void.self)
        send(file, context, done)
        return done.futureResult
    }

    private func send(_ file: FileSlice, _ context: ChannelHandlerContext, _ done: EventLoopPromise<Void>) {
        guard file.length > 0 else { return context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done) }
        file.read(on: context.eventLoop).assumeIsolated().flatMap { bytes in
            context.writeAndFlush(self.wrapOutboundOut(.body(.byteBuffer(bytes)))).map { bytes.readableBytes }
        }.whenComplete { result in
            switch result {
            case .success(let count):
                self.hasProgressed = true
                self.send(file.dropping(count), context, done)
            case .failure(let error):
                // The head announced more bytes, so closing the connection is the only way to signal the error.
                context.close(promise: nil)
                done.fail(error)
            }
        }
    }

    // MARK: Channel events

    func read(context: ChannelHandlerContext) {
        if unwritten > Self.maximumUnwritten { readIsHeld = true } else { context.read() }
    }

    private func resumeReading(_ context: ChannelHandlerContext) {
        guard readIsHeld, unwritten <= Self.maximumUnwritten else { return }
        readIsHeld = false
        context.read()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client never finishes its request, or never reads its response.
        if event is IdleStateHandler.IdleStateEvent {
            if !hasProgressed { context.close(promise: nil) }
            hasProgressed = false
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelInactive(context: ChannelHandlerContext) {
        if case .streaming(_, let sink) = phase { sink.abandon() }
        phase = .idle
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("HTTP connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }
}
