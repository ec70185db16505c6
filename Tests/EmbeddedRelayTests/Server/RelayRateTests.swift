import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

/// Limits by address, over real sockets and with a stopped clock.
@Suite(.live)
struct RelayRateTests {
    private func withRelay(
        limitsLoopback: Bool = true, connections: Int? = nil, _ body: @escaping @Sendable (String) async throws -> Void
    ) async throws {
        var configuration = RelayConfiguration()
        configuration.limits.messagesPerSecond = 2
        configuration.limits.messagesPerSecondPerAddress = 3
        configuration.limits.connectionsPerAddress = connections
        configuration.limits.limitsLoopback = limitsLoopback
        try await withEmbeddedRelay(configuration: configuration, now: { 1_700_000_000 }) { _, address in
            try await body(address)
        }
    }

    @Test func limitsMessagesPerAddress() async throws {
        try await withRelay { address in
            let first = try await TestClient.connect(address)
            let second = try await TestClient.connect(address)
            for index in 0..<4 { #expect(try await first.publish(Author.alice.event("\(index)")).accepted) }
            // A connection's own burst is four, the address's six.
            let refused = try await first.publish(Author.alice.event("of the connection"))
            #expect(refused.message == "rate-limited: slow down")
            #expect(try await second.request("a", Filter(limit: 0)) == [])
            try await second.send(.request(subscription: "b", filters: [Filter()]))
            #expect(try await second.next() == .closed(subscription: "b", message: "rate-limited: slow down"))
            let reply = HTTPReply(
                try await exchange("GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", address: address))
            #expect(reply.status == 429)
        }
    }

    @Test func limitsConnectionsPerAddress() async throws {
        try await withRelay(connections: 2) { address in
            let first = try await TestClient.connect(address)
            let second = try await TestClient.connect(address)
            await #expect(throws: (any Error).self) { try await TestClient.connect(address) }
            #expect(try await first.request("a", Filter()) == [])
            #expect(try await second.request("a", Filter()) == [])
        }
    }

    @Test func leavesLoopbackUnlimitedByDefault() async throws {
        try await withRelay(limitsLoopback: false, connections: 1) { address in
            let clients = [try await TestClient.connect(address), try await TestClient.connect(address)]
            for client in clients {
                for index in 0..<20 { #expect(try await client.publish(Author.alice.event("\(index)")).accepted) }
            }
        }
    }
}
