public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
public import ServiceLifecycle

/// A small HTTP/1.1 server for health, metrics and probes: GET and HEAD, one request per connection.
///
/// It has neither TLS nor authentication: bind it to the loopback address or put it behind a proxy that has both. It
/// answers requests for unknown hosts with 421, other methods with 405, unknown paths with 404, requests over the
/// limits with 431, and routes that exceed their deadline with 503.
public struct HTTPEndpoint: Service {
    /// Answers requests for one path; cancelled at its deadline.
    public typealias Route = @Sendable (HTTPRequest) async -> HTTPResponse

    private let host: String
    private let port: Int
    private let routes: [String: Route]
    private let hosts: HostRule
    private let limits: HTTPLimits
    private let logger: Logger
    private let listening: @Sendable (_ port: Int) -> Void

    /// - Parameters:
    ///   - port: 0 selects any free port.
    ///   - routes: by path, which must match exactly.
    ///   - hosts: the host names under which the endpoint is reachable.
    ///   - listening: called with the port once connections are accepted.
    public init(
        host: String, port: Int, routes: [String: Route], hosts: HostRule = HostRule(),
        limits: HTTPLimits = HTTPLimits(), logger: Logger,
        listening: @escaping @Sendable (_ port: Int) -> Void = { _ in }
    ) {
        self.host = host
        self.port = port
        self.routes = routes
        self.hosts = hosts
        self.limits = limits
        self.logger = logger
        self.listening = listening
    }

    /// Serves until a graceful shutdown or cancellation, which cuts off responses in flight.
    ///
    /// Throws ``TelemetryError/Code/bindFailed``.
    public func run() async throws {
        let connections = HTTPConnections(limits)
        let listener = try await bind(connections)
        let port = listener.localAddress?.port ?? port
        logger.info("Endpoint listening", metadata: ["host": "\(host)", "port": "\(port)"])
        listening(port)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await asked in connections.questions {
                    group.addTask { await answer(asked) }
                }
                group.cancelAll()
            }
        }
        try? await listener.close()
        connections.closeAll()
    }

    private func bind(_ connections: HTTPConnections) async throws(TelemetryError) -> any Channel {
        do {
            return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .serverChannelOption(.backlog, value: 64)
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try connections.add(channel) }
                }
                .bind(host: host, port: port).get()
        } catch {
            throw TelemetryError(
                .bindFailed, "\(host):\(port) cannot be listened on; is the address of this machine, and free?",
                cause: error)
        }
    }
}

// MARK: One connection

extension HTTPEndpoint {
    private func answer(_ asked: HTTPConnections.Asked) async {
        switch asked.question {
        case .malformed: await write(.text("not HTTP\n", status: 400), to: asked.channel)
        case .tooLarge: await write(.text("the request is too large\n", status: 431), to: asked.channel)
        case .request(_, _, let host?, _) where !hosts.admits(host):
            await write(
                .text("unknown host; use an address, or add its name to observe.hosts\n", status: 421),
                to: asked.channel)
        case .request(let method, _, _, _) where method != .GET && method != .HEAD:
            await write(.text("only GET and HEAD\n", status: 405), to: asked.channel)
        case .request(let method, let target, _, let scrapeTimeout):
            guard let request = HTTPRequest(target: target, scrapeTimeout: scrapeTimeout) else {
                return await write(.text("not a path\n", status: 400), to: asked.channel)
            }
            guard let route = routes[request.path] else {
                return await write(.text("nothing is here\n", status: 404), to: asked.channel)
            }
            await answer(request, route, isHead: method == .HEAD, to: asked.channel)
        }
    }

    private func answer(
        _ request: HTTPRequest, _ route: @escaping Route, isHead: Bool, to channel: any Channel
    ) async {
        await withTaskGroup(of: HTTPResponse.self) { group in
            group.addTask { await route(request) }
            group.addTask {
                try? await Task.sleep(for: limits.answerTime)
                return .text("the answer takes too long\n", status: 503)
            }
            // Written before the route has ended, since it may ignore its cancellation.
            if let first = await group.next() { await write(first, isHead: isHead, to: channel) }
            group.cancelAll()
        }
    }

    /// Writes the response and closes the connection, also if the client does not read in time.
    private func write(_ response: HTTPResponse, isHead: Bool = false, to channel: any Channel) async {
        let reason = HTTPResponseStatus(statusCode: response.status).reasonPhrase
        var head = "HTTP/1.1 \(response.status) \(reason)\r\n"
        head += "Content-Type: \(response.contentType)\r\nContent-Length: \(response.body.count)\r\n"
        head += "Cache-Control: no-store\r\nConnection: close\r\n"
        if response.status == 405 { head += "Allow: GET, HEAD\r\n" }
        var buffer = ByteBuffer(string: head + "\r\n")
        if !isHead { buffer.writeBytes(response.body) }
        let deadline = channel.eventLoop.scheduleTask(in: TimeAmount(limits.writeTime)) { channel.close(promise: nil) }
        do { try await channel.writeAndFlush(buffer) } catch {
            logger.debug("Answer not written", metadata: ["reason": "\(error)"])
        }
        deadline.cancel()
        try? await channel.close()
    }
}
