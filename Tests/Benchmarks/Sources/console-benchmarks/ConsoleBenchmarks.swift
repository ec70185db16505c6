import AsyncHTTPClient
import ConsolePages
import ConsoleServer
import Foundation
import Logging
import NIOCore
import NIOHTTP1
import Telemetry

/// The operator's console over HTTP, for many accounts: time of a page at a client, and processor time of an update.
///
///     console-benchmarks [ACCOUNTS [CHATS]]
///
/// Exits with 1 if the overview takes 200 ms, or an update 50 ms of processor time.
@main
struct ConsoleBenchmarks {
    private static let repetitions = 51
    private static let pageLimit = 200.0
    private static let updateLimit = 50.0

    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let (accounts, chats) = (numbers.first ?? 100, numbers.dropFirst().first ?? 50)
        let crowd = Crowd(accounts: accounts, chats: chats)
        var settings = ConsoleSettings(host: "127.0.0.1", port: 0, isLoopback: true)
        settings.hosts = []
        var logger = Logger(label: "console-benchmarks")
        logger.logLevel = .critical
        let server = try ConsoleServer(settings, backend: crowd, logger: logger)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run { port.yield($0) } }
            for await number in ports {
                try await measure("http://127.0.0.1:\(number)", server, crowd, accounts, chats)
                break
            }
            group.cancelAll()
        }
    }

    private static func measure(
        _ origin: String, _ server: ConsoleServer, _ crowd: Crowd, _ accounts: Int, _ chats: Int
    ) async throws {
        let client = HTTPClient(configuration: HTTPClient.Configuration(redirectConfiguration: .disallow))
        let cookie = try await logIn(origin, server, client)
        func request(_ path: String) -> HTTPClientRequest {
            var request = HTTPClientRequest(url: origin + path)
            request.headers.add(name: "cookie", value: cookie)
            return request
        }
        print("\(accounts) accounts, \(chats) chats each; medians of \(repetitions)\n")
        print("| page | ms at a client | CPU ms | KiB |\n|---|---|---|---|")
        // The same connection and library without a page.
        let floor = try await page("style sheet (floor)", request("/console.css"), client)
        let overview = try await page("overview", request("/"), client)
        try await endpoint(client)
        _ = try await page("account", request("/accounts/account-1"), client)
        _ = try await page("chat", request("/accounts/account-1/chats/chat-1"), client)
        let update = try await updates(request("/events?page=/&rev=1"), client, crowd)
        print(
            "\noverview: \(text(overview / floor)) times the floor; update of the overview: \(text(update)) ms of CPU")
        try await client.shutdown()
        guard overview < pageLimit, update < updateLimit else {
            print("over the limit of \(pageLimit) ms for a page or \(updateLimit) ms for an update")
            exit(1)
        }
    }

    /// The endpoint of health and metrics with a response of the style sheet's size, for comparison.
    private static func endpoint(_ client: HTTPClient) async throws {
        let text = String(repeating: "metric 1\n", count: 1_000)
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let endpoint = HTTPEndpoint(
            host: "127.0.0.1", port: 0, routes: ["/metrics": { _ in .text(text) }], logger: Logger(label: "endpoint"),
            listening: { port.yield($0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await endpoint.run() }
            for await number in ports {
                let request = HTTPClientRequest(url: "http://127.0.0.1:\(number)/metrics")
                _ = try await page("Telemetry's endpoint", request, client)
                break
            }
            group.cancelAll()
        }
    }

    private static func logIn(_ origin: String, _ server: ConsoleServer, _ client: HTTPClient) async throws -> String {
        var request = HTTPClientRequest(url: origin + "/login")
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/x-www-form-urlencoded")
        let token = server.invite("benchmark", .operate).split(separator: "=").last.map(String.init) ?? ""
        request.body = .bytes(ByteBuffer(string: "token=\(token)"))
        let answer = try await client.execute(request, timeout: .seconds(10))
        return answer.headers.first(name: "set-cookie").map { String($0.prefix { $0 != ";" }) } ?? ""
    }

    /// Prints a row; returns the median of the milliseconds.
    private static func page(_ name: String, _ request: HTTPClientRequest, _ client: HTTPClient) async throws -> Double
    {
        var times: [Double] = []
        var bytes = 0
        let cpu = processorSeconds()
        for _ in 0..<repetitions {
            let start = ContinuousClock.now
            let answer = try await client.execute(request, timeout: .seconds(10))
            bytes = try await answer.body.collect(upTo: 32 << 20).readableBytes
            times.append((ContinuousClock.now - start) / .milliseconds(1))
            guard answer.status == .ok else { fatalError("\(name): \(answer.status)") }
            // Below the limit of requests.
            try await Task.sleep(for: .milliseconds(60))
        }
        let own = (processorSeconds() - cpu) * 1_000 / Double(repetitions)
        let median = times.sorted()[times.count / 2]
        print("| \(name) | \(text(median)) | \(text(own)) | \(bytes / 1_024) |")
        return median
    }

    /// Returns the processor milliseconds of an update with its client's share.
    private static func updates(
        _ request: HTTPClientRequest, _ client: HTTPClient, _ crowd: Crowd
    ) async throws -> Double {
        let count = 20
        let answer = try await client.execute(request, timeout: .seconds(120))
        var seen = 0
        var cpu = processorSeconds()
        for try await part in answer.body {
            let text = String(buffer: part)
            if text.contains("retry:") { cpu = processorSeconds() }
            if text.contains("event: update") { seen += 1 }
            if seen == count { break }
            if text.contains("event: update") || text.contains("retry:") { crowd.advance() }
        }
        return (processorSeconds() - cpu) * 1_000 / Double(count)
    }

    private static func processorSeconds() -> Double {
        Double(clock()) / Double(CLOCKS_PER_SEC)
    }

    private static func text(_ value: Double) -> String { value.formatted(.number.precision(.fractionLength(2))) }
}
