import Errors
package import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle

/// A small HTTP/1.1 server for health, metrics and probes: GET and HEAD, one request per connection.
///
/// It has neither TLS nor authentication: bind it to the loopback address or put it behind a proxy that has both. It
/// answers requests for unknown hosts with 421, other methods with 405, unknown paths with 404, requests over the
/// limits with 431, and routes that exceed their deadline with 503.
package struct HTTPEndpoint: Service {
    /// Answers requests for one path; cancelled at its deadline.
    package typealias Route = @Sendable (HTTPRequest) async -> HTTPResponse

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
    package init(
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
    /// Throws `TelemetryError.Code.bindFailed`.
    package func run() async throws {
        let connections = HTTPConnections(limits)
        let listener = try await bind(connections)
        let port = listener.localAddress?.port ?? port
        logger.info("Endpoint listening", metadata: ["host": "\(host)", "port": "\(port)"])
        listening(port)
        await cancelWhenGracefulShutdown {
            await withDiscardingTaskGroup { group in
                for await arrival in connections.arrivals {
                    group.addTask { await answer(arrival) }
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
                .bindFailed,
                "\(host):\(port) cannot be bound; check that the address belongs to this machine and is free",
                cause: error)
        }
    }
}

// MARK: One connection

extension HTTPEndpoint {
    private func answer(_ arrival: HTTPConnections.Arrival) async {
        switch arrival.request {
        case .malformed: await write(.text("malformed HTTP request\n", status: 400), to: arrival.channel)
        case .tooLarge: await write(.text("the request is too large\n", status: 431), to: arrival.channel)
        case .request(_, _, let host?, _) where !hosts.admits(host):
            await write(
                .text("unknown host; use an IP address, or add the name to observe.hosts\n", status: 421),
                to: arrival.channel)
        case .request(let method, _, _, _) where method != .GET && method != .HEAD:
            await write(.text("only GET and HEAD are allowed\n", status: 405), to: arrival.channel)
        case .request(let method, let target, _, let scrapeTimeout):
            guard let request = HTTPRequest(target: target, scrapeTimeout: scrapeTimeout) else {
                return await write(.text("malformed request target\n", status: 400), to: arrival.channel)
            }
            guard let route = routes[request.path] else {
                return await write(.text("not found\n", status: 404), to: arrival.channel)
            }
            await answer(request, route, isHead: method == .HEAD, to: arrival.channel)
        }
    }

    private func answer(
        _ request: HTTPRequest, _ route: @escaping Route, isHead: Bool, to channel: any Channel
    ) async {
        await withTaskGroup(of: HTTPResponse.self) { group in
            group.addTask { await route(request) }
            group.addTask {
                try? await Task.sleep(for: limits.answerTime)
                return .text("the response exceeded its deadline\n", status: 503)
            }
            // Written before the route has ended, since it may ignore its cancellation.
            if let first = await group.next() { await write(first, isHead: isHead, to: channel) }
            group.cancelAll()
        }
    }

    /// Writes the response and closes the connection, even if the client does not read in time.
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
            logger.debug("Response not written", metadata: ["reason": "\(error)"])
        }
        deadline.cancel()
        try? await channel.close()
    }
}
