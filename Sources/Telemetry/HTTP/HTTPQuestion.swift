import NIOCore
import NIOHTTP1

/// What a connection asked, once all of it has come.
enum HTTPQuestion: Sendable, Equatable {
    /// - Parameters:
    ///   - host: the header `Host`; nil only in HTTP/1.0.
    ///   - scrapeTimeout: how long a Prometheus server waits, from its header.
    case request(HTTPMethod, target: String, host: String?, scrapeTimeout: String? = nil)
    /// Not HTTP, or without exactly one header `Host` (RFC 9112 §3.2).
    case malformed
    case tooLarge
}

/// Counts what comes in before it is parsed; over the limit nothing more gets through.
final class HTTPRequestLimit: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    struct Exceeded: Error {}

    private var rest: Int

    init(bytes: Int) {
        rest = bytes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard rest >= 0 else { return }
        rest -= unwrapInboundIn(data).readableBytes
        if rest < 0 { context.fireErrorCaught(Exceeded()) } else { context.fireChannelRead(data) }
    }
}

/// Makes one question of a connection's first request; what follows is dropped. Who takes too long is hung up on.
final class HTTPQuestionReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let time: TimeAmount
    private let ask: (any Channel, HTTPQuestion) -> Void
    private var deadline: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var hasAsked = false

    /// - Parameter ask: called once at most.
    init(time: TimeAmount, ask: @escaping (any Channel, HTTPQuestion) -> Void) {
        self.time = time
        self.ask = ask
    }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body: break
        // Answered at its end: closing with something unread would cut off the answer.
        case .end: if let head { ask(question(head), context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPRequestLimit.Exceeded: ask(.tooLarge, context)
        case is HTTPParserError: ask(.malformed, context)
        default: context.close(promise: nil)
        }
    }

    private func question(_ head: HTTPRequestHead) -> HTTPQuestion {
        let hosts = head.headers["Host"]
        guard hosts.count == 1 || hosts.isEmpty && head.version == .http1_0 else { return .malformed }
        return .request(
            head.method, target: head.uri, host: hosts.first,
            scrapeTimeout: head.headers.first(name: "X-Prometheus-Scrape-Timeout-Seconds"))
    }

    private func ask(_ question: HTTPQuestion, _ context: ChannelHandlerContext) {
        guard !hasAsked else { return }
        hasAsked = true
        deadline?.cancel()
        ask(context.channel, question)
    }
}
