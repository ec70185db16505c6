import Foundation
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct RelayHTTPTests {
    private func ask(_ request: String, _ headers: String..., at address: String) async throws -> (
        head: String, body: String
    ) {
        let lines = ["\(request) HTTP/1.1", "Host: x", "Connection: close"] + headers
        let answer = try await exchange(lines.joined(separator: "\r\n") + "\r\n\r\n", address: address)
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1).map(String.init)
        return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
    }

    @Test func reportsHealth() async throws {
        try await withEmbeddedRelay { _, address in
            let answer = try await ask("GET /health", at: address)
            #expect(answer.head.hasPrefix("HTTP/1.1 200 OK"))
            #expect(answer.head.contains("Content-Type: application/json"))
            #expect(answer.body == #"{"status":"ok"}"#)
            let head = try await ask("HEAD /health", at: address)
            #expect(head.head.contains("Content-Length: 15") && head.body == "")
        }
    }

    @Test func everyResponseHasADateHeader() async throws {
        let clock = ManualClock(now: 784_111_777)
        try await withEmbeddedRelay(now: { clock.now }) { _, address in
            let found = try await ask("GET /", "Accept: application/nostr+json", at: address).head
            let missing = try await ask("GET /nothing", at: address).head
            for head in [found, missing] { #expect(head.contains("\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT")) }
            clock.now = 951_782_400
            let later = try await ask("HEAD /health", at: address).head
            #expect(later.contains("\r\nDate: Tue, 29 Feb 2000 00:00:00 GMT"))
        }
    }

    @Test func omitsUnrepresentableDates() {
        #expect(DateHeader.text(0) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(DateHeader.text(253_402_300_799) == "Fri, 31 Dec 9999 23:59:59 GMT")
        for time in [253_402_300_800, -62_167_219_201, .distantFuture, .distantPast] as [UnixTime] {
            #expect(DateHeader.text(time) == nil)
        }
    }

    @Test func servesInformationDocument() async throws {
        var configuration = RelayConfiguration()
        configuration.name = "a \"relay\""
        configuration.limits.messageBytes = 4_711
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let answer = try await ask("GET /", "Accept: application/nostr+json", at: address)
            #expect(answer.head.contains("Content-Type: application/nostr+json"))
            #expect(answer.head.contains("Access-Control-Allow-Origin: *"))
            let document = try RelayInformation(json: Array(answer.body.utf8))
            #expect(document.name == "a \"relay\"")
            #expect(document.supportedNIPs == [1, 9, 11, 40, 42, 45, 70])
            #expect(document.limitation?.maxMessageLength == 4_711)
            #expect(document.limitation?.maxLimit == 500)
            #expect(try await ask("GET /", at: address).head.contains("Content-Type: text/plain"))
        }
    }

    @Test func refusesUnknownRoutes() async throws {
        try await withEmbeddedRelay { _, address in
            #expect(try await ask("GET /nothing", at: address).head.hasPrefix("HTTP/1.1 404"))
            #expect(try await ask("PUT /health", "Content-Length: 0", at: address).head.hasPrefix("HTTP/1.1 405"))
            let body = try await exchange(
                "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc", address: address
            )
            #expect(body.hasPrefix("HTTP/1.1 413"))
            #expect(try await exchange("nonsense\r\n\r\n", address: address).hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test func servesSeveralRequestsPerConnection() async throws {
        try await withEmbeddedRelay { _, address in
            let request = "GET /health HTTP/1.1\r\nHost: x\r\n"
            let answer = try await exchange("\(request)\r\n\(request)Connection: close\r\n\r\n", address: address)
            #expect(answer.components(separatedBy: "HTTP/1.1 200 OK").count == 3)
        }
    }
}
