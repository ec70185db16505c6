import NIOCore
import NIOHTTP1

/// The complete request of a connection, or the reason why there is none.
enum IncomingRequest: Sendable, Equatable {
    /// - Parameters:
    ///   - host: the `Host` header; nil only in HTTP/1.0.
    ///   - scrapeTimeout: the timeout of a Prometheus server, from its header.
    case request(HTTPMethod, target: String, host: String?, scrapeTimeout: String? = nil)
    /// Not HTTP, or without exactly one `Host` header (RFC 9112 §3.2).
    case malformed
    case tooLarge
}

/// Counts received bytes before parsing; above the limit nothing is passed on.
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

/// Passes on a connection's first request and drops the rest. Closes the connection of a client that is too slow.
final class IncomingRequestReader: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart

    private let time: TimeAmount
    private let handle: (any Channel, IncomingRequest) -> Void
    private var deadline: Scheduled<Void>?
    private var head: HTTPRequestHead?
    private var isDelivered = false

    /// - Parameter handle: called at most once.
    init(time: TimeAmount, handle: @escaping (any Channel, IncomingRequest) -> Void) {
        self.time = time
        self.handle = handle
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
        // Answered at the end of the request: closing with unread data would cut off the response.
        case .end: if let head { deliver(request(head), context) }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is HTTPRequestLimit.Exceeded: deliver(.tooLarge, context)
        case is HTTPParserError: deliver(.malformed, context)
        default: context.close(promise: nil)
        }
    }

    private func request(_ head: HTTPRequestHead) -> IncomingRequest {
        let hosts = head.headers["Host"]
        guard hosts.count == 1 || hosts.isEmpty && head.version == .http1_0 else { return .malformed }
        return .request(
            head.method, target: head.uri, host: hosts.first,
            scrapeTimeout: head.headers.first(name: "X-Prometheus-Scrape-Timeout-Seconds"))
    }

    private func deliver(_ request: IncomingRequest, _ context: ChannelHandlerContext) {
        guard !isDelivered else { return }
        isDelivered = true
        deadline?.cancel()
        handle(context.channel, request)
    }
}
