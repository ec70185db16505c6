import Errors
import LiveTesting
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Telemetry
import Testing

@Suite(.live) struct HTTPEndpointTests {
    private static let routes: [String: HTTPEndpoint.Route] = [
        "/metrics": { _ in .metrics([MetricFamily(name: "a", help: "A.", kind: .gauge, series: [.init(value: 1)])]) },
        "/echo": { .text($0["say"] ?? "nothing", status: 503) },
        "/slow": { _ in
            for await _ in AsyncStream<Never>(unfolding: {
                try? await Task.sleep(for: .seconds(3600)); return nil
            }) {}
            return .text("late")
        },
    ]

    /// Runs an endpoint, sends each text over its own connection, and returns the responses.
    private func ask(_ texts: [String], _ limits: HTTPLimits = HTTPLimits()) async throws -> [String] {
        try await withEndpoint(limits) { port in
            var answers: [String] = []
            for text in texts { answers.append(try await Self.exchange(text, port)) }
            return answers
        }
    }

    private func withEndpoint<Value: Sendable>(
        _ limits: HTTPLimits, _ body: @escaping @Sendable (Int) async throws -> Value
    ) async throws -> Value {
        let (ports, listening) = AsyncStream.makeStream(of: Int.self)
        let endpoint = HTTPEndpoint(
            host: "127.0.0.1", port: 0, routes: Self.routes, limits: limits,
            logger: Logger(label: "test") { _ in
                SwiftLogNoOpLogHandler()
            }, listening: { listening.yield($0) })
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                try? await endpoint.run()
                return nil
            }
            group.addTask {
                for await port in ports { return try await body(port) }
                return nil
            }
            defer { group.cancelAll() }
            while let result = try await group.next() { if let result { return result } }
            throw CancellationError()
        }
    }

    private static func exchange(_ text: String, _ port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let answer = Mutex(ByteBuffer())
        // A reset connection ends the response too.
        do {
            try await channel.executeThenClose { inbound, outbound in
                try await outbound.write(ByteBuffer(string: text))
                for try await part in inbound { answer.withLock { _ = $0.writeImmutableBuffer(part) } }
            }
        } catch is ChannelError {} catch is IOError {}
        return answer.withLock { String(buffer: $0) }
    }

    @Test func routeAnswersGET() async throws {
        let answers = try await ask(["GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"])
        #expect(
            answers == [
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\nContent-Length: 31\r\n"
                    + "Cache-Control: no-store\r\nConnection: close\r\n\r\n# HELP a A.\n# TYPE a gauge\na 1\n"
            ])
    }

    @Test func headHasLengthWithoutBody() async throws {
        let answer = try await ask(["HEAD /echo?say=hello HTTP/1.1\r\nHost: localhost\r\n\r\n"])[0]
        #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n"))
        #expect(answer.contains("Content-Length: 5\r\n"))
        #expect(answer.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: [
        ("POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nabc", "405 Method Not Allowed"),
        ("DELETE /none HTTP/1.1\r\nHost: localhost\r\n\r\n", "405 Method Not Allowed"),
        ("GET /metrics/ HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 Not Found"),
        ("GET /..%2fmetrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "404 Not Found"),
        ("GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
        ("hello\r\n\r\n", "400 Bad Request"),
        (
            "GET / HTTP/1.1\r\nA: \(String(repeating: "x", count: 20_000))\r\n\r\n",
            "431 Request Header Fields Too Large"
        ),
    ])
    func refusesOtherRequests(_ request: String, _ status: String) async throws {
        let answer = try await ask([request])[0]
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(answer.contains("Allow: GET, HEAD\r\n") == status.hasPrefix("405"))
    }

    @Test(arguments: [
        ("GET /metrics HTTP/1.1\r\nHost: evil.example:9464\r\n\r\n", "421 Misdirected Request"),
        ("GET /none HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", "421 Misdirected Request"),
        ("POST /metrics HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n", "421 Misdirected Request"),
        ("GET /metrics HTTP/1.1\r\n\r\n", "400 Bad Request"),
        ("GET /metrics HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "400 Bad Request"),
        ("GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n", "400 Bad Request"),
        ("GET /metrics HTTP/1.0\r\n\r\n", "200 OK"),
    ])
    func answersOnlyKnownHosts(_ request: String, _ status: String) async throws {
        let answer = try await ask([request])[0]
        #expect(answer.hasPrefix("HTTP/1.1 \(status)\r\n"))
        #expect(answer.contains("# TYPE") == status.hasPrefix("200"))
    }

    @Test func closesSilentConnections() async throws {
        var limits = HTTPLimits()
        limits.requestTime = .milliseconds(20)
        #expect(try await ask(["", "GET /metrics HT"], limits) == ["", ""])
    }

    @Test func slowRouteReturns503() async throws {
        var limits = HTTPLimits()
        limits.answerTime = .milliseconds(20)
        #expect(
            try await ask(["GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n"], limits)[0].hasPrefix(
                "HTTP/1.1 503 Service Unavailable\r\n"))
    }

    @Test func closesConnectionsAboveLimit() async throws {
        var limits = HTTPLimits()
        limits.connections = 0
        #expect(try await ask(["GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"], limits) == [""])
    }

    @Test func reportsAddressInUse() async throws {
        let error = try await withEndpoint(HTTPLimits()) { port in
            let second = HTTPEndpoint(host: "127.0.0.1", port: port, routes: [:], logger: Logger(label: "test"))
            return await #expect(throws: TelemetryError.self) { try await second.run() }
        }
        #expect(error?.code == .bindFailed)
    }
}
