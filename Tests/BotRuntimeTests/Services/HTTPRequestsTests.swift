import BotKit
import LiveTesting
import NetworkAddresses
import Synchronization
import Testing

@testable import BotRuntime

@Suite(.live) struct HTTPRequestsTests {
    private let http = HTTPRequests()

    private func send(
        _ url: String, method: String = "GET", headers: [(name: String, value: String)] = [], body: String = "",
        timeout: Duration = .seconds(20), maximumBytes: Int = 10_000, isPrivate: Bool = true
    ) async throws -> BotHTTPResponse {
        try await http.send(
            BotHTTPRequest(
                method: method, url: url, headers: headers, body: Array(body.utf8), timeout: timeout,
                maximumBytes: maximumBytes, reachesPrivateAddresses: isPrivate))
    }

    private func failure(_ body: () async throws -> BotHTTPResponse) async -> String {
        do { return "no failure but \(try await body())" } catch { return "\(error)" }
    }

    @Test func sendsRequestAndReadsResponse() async throws {
        try await HTTPServer.run { (server) async throws in
            let response = try await send("\(server.url)/a%20b?c=d", method: "POST", body: "hello")
            #expect(response.status == 200)
            #expect(String(decoding: response.body, as: UTF8.self) == "POST /a%20b?c=d hello")
            let headers = try await send("\(server.url)/headers", headers: [("X-Key", "value")])
            let lines = String(decoding: headers.body, as: UTF8.self).split(separator: "\n")
            #expect(lines.contains("x-key: value"))
            #expect(lines.contains("host: 127.0.0.1:\(server.port)"))
        }
    }

    @Test func streamsLongResponses() async throws {
        try await HTTPServer.run { (server) async throws in
            let sizes = Mutex<[Int]>([])
            let head = Mutex<BotHTTPHead?>(nil)
            try await http.stream(
                BotHTTPRequest(
                    method: "GET", url: "\(server.url)/endless", maximumBytes: 1_000_000,
                    reachesPrivateAddresses: true)
            ) { part in
                switch part {
                case .head(let new): head.withLock { $0 = new }
                case .body(let bytes): sizes.withLock { $0.append(bytes.count) }
                }
            }
            let status = head.withLock { $0?.status }
            #expect(status == 200)
            let total = sizes.withLock { $0.reduce(0, +) }
            #expect(total == 1_000_000)
        }
    }

    @Test func refusesMalformedHeaders() async throws {
        for header in [("X-Key", "a\r\nB: c"), ("X Key", "a"), ("", "a"), ("Ключ", "a")] {
            let failure = await failure { try await send("http://127.0.0.1:1/", headers: [header]) }
            #expect(failure.contains("malformed"))
        }
    }

    @Test func returnsRedirectsAsResponses() async throws {
        try await HTTPServer.run { (server) async throws in
            #expect(try await send("\(server.url)/redirect").status == 302)
            #expect(server.requests.withLock { $0 } == ["GET /redirect "])
        }
    }

    @Test func reportsRetryAfter() async throws {
        try await HTTPServer.run { (server) async throws in
            let response = try await send("\(server.url)/busy")
            #expect(response.status == 429 && response.body.isEmpty && response.retryAfter == .seconds(7))
        }
    }

    @Test(arguments: ["long", "endless"])
    func refusesLongResponses(_ path: String) async throws {
        try await HTTPServer.run { (server) async throws in
            #expect(
                await failure { try await send("\(server.url)/\(path)") }
                    == "request_failed: the response is longer than 10000 bytes")
            #expect(try await send("\(server.url)/\(path)", maximumBytes: 1_000_000).body.count == 1_000_000)
        }
    }

    @Test func refusesSlowResponses() async throws {
        try await HTTPServer.run { (server) async throws in
            let message = await failure {
                try await send("\(server.url)/slow", timeout: .milliseconds(300))
            }
            #expect(message.hasPrefix("request_failed: 127.0.0.1"))
            #expect(!message.contains("/slow"))
        }
    }

    @Test func neverResendsDeliveredRequests() async throws {
        try await HTTPServer.run { (server) async throws in
            #expect(
                await failure {
                    try await send("\(server.url)/drop", method: "POST", body: "x")
                }
                .hasPrefix("request_failed: 127.0.0.1: "))
            #expect(server.requests.withLock { $0 } == ["POST /drop x"])
        }
    }

    @Test(arguments: ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "localhost", "[::ffff:127.0.0.1]"])
    func refusesPrivateAddresses(_ host: String) async throws {
        try await HTTPServer.run { (server) async throws in
            let message = await failure {
                try await send("http://\(host):\(server.port)/secret", isPrivate: false)
            }
            #expect(message.hasPrefix("request_failed: "))
            #expect(
                message.hasSuffix("only if the settings list the host as private") || message.contains("no such host"))
            #expect(server.requests.withLock { $0 } == [])
        }
    }

    /// A second lookup could return a private address (DNS rebinding).
    @Test func resolvesNameOnce() async throws {
        try await HTTPServer.run { (server) async throws in
            let lookups = Mutex(0)
            let http = HTTPRequests { _ in
                lookups.withLock { $0 += 1 }
                return [HostAddress(text: "127.0.0.1", scope: .global)]
            }
            let response = try await http.send(
                BotHTTPRequest(method: "GET", url: "http://api.example:\(server.port)/headers"))
            #expect(lookups.withLock { $0 } == 1)
            let lines = String(decoding: response.body, as: UTF8.self).split(separator: "\n")
            #expect(lines.contains("host: api.example:\(server.port)"))
        }
    }

    @Test func triesOnlyPublicAddresses() async throws {
        try await HTTPServer.run { (server) async throws in
            let http = HTTPRequests { _ in
                [HostAddress(text: "127.0.0.1", scope: .local), HostAddress(text: "127.0.0.2", scope: .local)]
            }
            await #expect(throws: BotError.self) {
                try await http.send(BotHTTPRequest(method: "GET", url: "http://api.example:\(server.port)/"))
            }
            #expect(server.requests.withLock { $0 } == [])
        }
    }

    /// Nothing listens at the first address.
    @Test func triesNextAddressAfterFailure() async throws {
        try await HTTPServer.run { (server) async throws in
            let http = HTTPRequests { _ in
                ["127.0.0.9", "127.0.0.1"].map { HostAddress(text: $0, scope: .global) }
            }
            let response = try await http.send(
                BotHTTPRequest(method: "GET", url: "http://api.example:\(server.port)/"))
            #expect(response.status == 200)
        }
    }

    @Test(arguments: [
        "ftp://a.example/", "https://", "https:///x", "//a.example", "https://user@a.example/",

        "", "javascript:x",
    ])
    func refusesInvalidURLs(_ url: String) async {
        let http = HTTPRequests { _ in
            Issue.record("expected no lookup")
            return []
        }
        await #expect(throws: BotError.self) { try await http.send(BotHTTPRequest(url: url)) }
    }

    @Test func reportsUnknownHosts() async {
        let message = await failure {
            try await HTTPRequests { _ in [] }.send(BotHTTPRequest(url: "https://a.example/?secret=1"))
        }
        #expect(message == "request_failed: a.example: unknown host")
    }
}
