import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// A local server whose response depends on the path; see ``answer(_:_:)``.
final class HTTPServer: Sendable {
    /// Received requests: method, path and body.
    let requests = Mutex<[String]>([])
    private let channel: any Channel

    private init(_ channel: any Channel) {
        self.channel = channel
    }

    var port: Int { channel.localAddress?.port ?? 0 }
    var url: String { "http://127.0.0.1:\(port)" }

    /// Runs `body` with a server.
    static func run<Value>(_ body: (HTTPServer) async throws -> Value) async throws -> Value {
        let box = Mutex<HTTPServer?>(nil)
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(Answerer(server: { box.withLock { $0 } }))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = HTTPServer(channel)
        box.withLock { $0 = server }
        do {
            let value = try await body(server)
            try await channel.close()
            return value
        } catch {
            try? await channel.close()
            throw error
        }
    }
}

private final class Answerer: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let server: @Sendable () -> HTTPServer?
    private var head: HTTPRequestHead?
    private var body = ""

    init(server: @escaping @Sendable () -> HTTPServer?) {
        self.server = server
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): self.head = head
        case .body(let part): body += String(buffer: part)
        case .end: if let head { answer(head, context) }
        }
    }

    /// `/slow` never answers, `/drop` hangs up, `/long` has a million bytes, `/endless` has as many without a declared
    /// length, `/redirect` redirects, `/busy` asks for a retry, `/headers` returns the request's headers; any other
    /// path returns method, path and body.
    private func answer(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        server()?.requests.withLock { $0.append("\(head.method) \(head.uri) \(body)") }
        switch head.uri {
        case "/slow": break
        case "/drop": context.close(promise: nil)
        case "/long": write(context, .ok, String(repeating: "x", count: 1_000_000))
        case "/endless": write(context, .ok, String(repeating: "x", count: 1_000_000), hasLength: false)
        case "/redirect": write(context, .found, "elsewhere", headers: ["Location": "/other"])
        case "/busy": write(context, .tooManyRequests, "", headers: ["Retry-After": "7"])
        case "/headers":
            let lines = head.headers.map { "\($0.name.lowercased()): \($0.value)" }
            write(context, .ok, lines.sorted().joined(separator: "\n"))
        default: write(context, .ok, "\(head.method) \(head.uri) \(body)")
        }
    }

    private func write(
        _ context: ChannelHandlerContext, _ status: HTTPResponseStatus, _ text: String,
        headers: [String: String] = [:], hasLength: Bool = true
    ) {
        var fields = HTTPHeaders(headers.map { ($0.key, $0.value) })
        if hasLength { fields.add(name: "Content-Length", value: "\(text.utf8.count)") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: status, headers: fields))), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }
}
