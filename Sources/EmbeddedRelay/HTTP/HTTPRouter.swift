import NIOCore
import NIOHTTP1

struct HTTPRequest: Sendable {
    let head: HTTPRequestHead
    let body: ByteBuffer
}

struct HTTPAnswer: Sendable {
    var status: HTTPResponseStatus
    var contentType: String?
    var headers: HTTPHeaders = [:]
    var body = ByteBuffer()
    /// Sent instead of `body`.
    var file: FileSlice?

    var length: Int { file?.length ?? body.readableBytes }

    static func text(_ status: HTTPResponseStatus, _ text: String) -> HTTPAnswer {
        HTTPAnswer(status: status, contentType: "text/plain; charset=utf-8", body: ByteBuffer(string: text))
    }
}

/// One kind of request and what answers it. HEAD asks the GET route unless it has one of its own.
struct HTTPRoute: Sendable {
    let method: HTTPMethod
    /// Whether the path of the request, without its query, belongs to this route.
    let matches: @Sendable (_ path: String) -> Bool
    /// Bytes of body it takes; a longer one is refused with 413 before `respond` is asked.
    var maximumBody = 0
    /// Called on the connection's event loop; an error becomes 500.
    let respond: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer>
    /// For bodies that are not gathered in memory: asked when the head is there; `respond` is not asked then.
    var openBody: (@Sendable (HTTPRequestHead, any EventLoop) throws(HTTPRefusal) -> any HTTPBodySink)?

    /// A route for one path whose answer needs no waiting.
    static func get(_ path: String, _ answer: @escaping @Sendable (HTTPRequestHead) -> HTTPAnswer) -> HTTPRoute {
        HTTPRoute(method: .GET, matches: { $0 == path }) { request, eventLoop in
            eventLoop.makeSucceededFuture(answer(request.head))
        }
    }
}

/// The relay's HTTP side: everything on the port that is not a WebSocket.
struct HTTPRouter: Sendable {
    enum Resolution: Sendable {
        case route(HTTPRoute)
        case answer(HTTPAnswer)
    }

    let routes: [HTTPRoute]

    func resolve(_ head: HTTPRequestHead) -> Resolution {
        let path = String(head.uri.prefix { $0 != "?" })
        let routes = routes.filter { $0.matches(path) }
        guard !routes.isEmpty else { return .answer(.text(.notFound, "not found\n")) }
        let methods = Set(routes.map(\.method.rawValue)).union(["OPTIONS"])
        // NIP-11 asks for CORS, and browsers ask for it with OPTIONS.
        if head.method == .OPTIONS {
            let allow = methods.sorted().joined(separator: ", ")
            return .answer(
                HTTPAnswer(
                    status: .noContent,
                    headers: [
                        "Allow": allow, "Access-Control-Allow-Methods": allow, "Access-Control-Max-Age": "86400",
                    ]))
        }
        let own = routes.first { $0.method == head.method }
        guard let route = own ?? (head.method == .HEAD ? routes.first { $0.method == .GET } : nil) else {
            return .answer(.text(.methodNotAllowed, "method not allowed\n"))
        }
        return .route(route)
    }
}
