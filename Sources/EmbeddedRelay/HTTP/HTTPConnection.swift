import Logging
import NIOCore
import NIOHTTP1

/// Answers plain HTTP requests; leaves the pipeline when the connection becomes a WebSocket.
final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Exchange {
        let head: HTTPRequestHead
        let resolution: HTTPRouter.Resolution
        var body = ByteBuffer()
        var isTooLarge = false
    }

    private let router: HTTPRouter
    private let logger: Logger
    private var exchange: Exchange?

    init(router: HTTPRouter, logger: Logger) {
        self.router = router
        self.logger = logger
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            exchange = Exchange(head: head, resolution: router.resolve(head))
        case .body(var part):
            guard let exchange, !exchange.isTooLarge else { return }
            let most = if case .route(let route) = exchange.resolution { route.maximumBody } else { 0 }
            if exchange.body.readableBytes + part.readableBytes > most {
                self.exchange?.isTooLarge = true
            } else {
                self.exchange?.body.writeBuffer(&part)
            }
        case .end:
            guard let exchange else { return }
            self.exchange = nil
            answer(exchange, context)
        }
    }

    private func answer(_ exchange: Exchange, _ context: ChannelHandlerContext) {
        switch exchange.resolution {
        case _ where exchange.isTooLarge:
            write(.text(.payloadTooLarge, "the body is too large\n"), to: exchange.head, context)
        case .answer(let answer):
            write(answer, to: exchange.head, context)
        case .route(let route):
            let head = exchange.head
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            let logger = logger
            route.respond(HTTPRequest(head: head, body: exchange.body), context.eventLoop)
                .recover { error in
                    logger.error("An HTTP request failed", metadata: ["error": "\(error)"])
                    return .text(.internalServerError, "internal error\n")
                }
                .whenSuccess { answer in
                    let (connection, context) = bound.value
                    connection.write(answer, to: head, context)
                }
        }
    }

    private func write(_ answer: HTTPAnswer, to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        var headers = answer.headers
        headers.replaceOrAdd(name: "Access-Control-Allow-Origin", value: "*")
        headers.replaceOrAdd(name: "Access-Control-Allow-Headers", value: "*")
        if answer.status != .noContent {
            headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.readableBytes)")
        }
        if let type = answer.contentType { headers.replaceOrAdd(name: "Content-Type", value: type) }
        let isLast = !request.isKeepAlive
        if isLast { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPResponseHead(version: request.version, status: answer.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD, answer.body.readableBytes > 0 {
            context.write(wrapOutboundOut(.body(.byteBuffer(answer.body))), promise: nil)
        }
        let bound = context.loopBound
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            if isLast { bound.value.close(promise: nil) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that never finishes its request.
        if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        logger.debug("HTTP connection failed", metadata: ["error": "\(error)"])
        context.close(promise: nil)
    }
}
