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

/// A kind of request and its handler. HEAD uses the GET route unless it has one of its own.
struct HTTPRoute: Sendable {
    let method: HTTPMethod
    /// Whether the path of the request, without its query, belongs to this route.
    let matches: @Sendable (_ path: String) -> Bool
    /// Maximum size of a request body in bytes; a larger one is refused with 413 without calling `respond`.
    var maximumBody = 0
    /// Handles a request. Called on the connection's event loop; an error becomes a 500.
    let respond: @Sendable (HTTPRequest, any EventLoop) -> EventLoopFuture<HTTPAnswer>
    /// Handles a body that is streamed; called after the request head, instead of `respond`.
    var openBody: (@Sendable (HTTPRequestHead, any EventLoop) throws(HTTPRefusal) -> any HTTPBodySink)?

    /// A route for one path with an immediate response.
    static func get(_ path: String, _ answer: @escaping @Sendable (HTTPRequestHead) -> HTTPAnswer) -> HTTPRoute {
        HTTPRoute(method: .GET, matches: { $0 == path }) { request, eventLoop in
            eventLoop.makeSucceededFuture(answer(request.head))
        }
    }
}

/// Routes all requests on the port that are not WebSocket upgrades.
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
        // NIP-11 requires CORS, and browsers send preflight requests with OPTIONS.
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
