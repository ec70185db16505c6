import LiveTesting
import Logging
import NIOWebSocket
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import RelayClient

@Suite(.live) struct MessageConnectionTests {
    /// Runs a connection to a local server that speaks any text.
    private func connect(
        isPrivate: Bool = true,
        _ body:
            @escaping @Sendable (
                MessageConnection<PlainMessages>, LyingRelay, AsyncStream<WebSocketMessage>
            ) async throws -> Void
    ) async throws {
        let server = try await LyingRelay.start()
        let (messages, message) = AsyncStream.makeStream(of: WebSocketMessage.self)
        var configuration = TransportConfiguration()
        configuration.backoff.base = .milliseconds(50)
        let connection = try MessageConnection<PlainMessages>(
            MessageConnection<PlainMessages>.Endpoint(
                RelayURL.known("ws://127.0.0.1:\(server.port)/events"), reachesPrivateAddresses: isPrivate),
            codec: PlainMessages(), queue: (count: 4, bytes: 100), configuration: configuration,
            consumer: MessageConnection<PlainMessages>.Consumer(
                onConnect: { [.text("subscribe")] }, onMessage: { message.yield($0) }),
            logger: Logger(label: "test"))
        try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await connection.run() }
            try await body(connection, server, messages)
            group.cancelAll()
        }
        try await server.stop()
    }

    @Test func subscribesAgainAfterAnOutage() async throws {
        try await connect { connection, server, messages in
            var received = messages.makeAsyncIterator()
            let first = try await server.nextClient()
            #expect(await first.text() == "subscribe")
            first.say("one")
            let one = await received.next()
            #expect(one == .text("one"))
            first.hangUp()
            let second = try await server.nextClient()
            #expect(await second.text() == "subscribe")
            let isQueued = await connection.send(.text("more"))
            #expect(isQueued)
            #expect(await second.text() == "more")
            second.send(.binary, [1, 2])
            let two = await received.next()
            #expect(two == .binary([1, 2]))
        }
    }

    @Test func answersPingsAndStops() async throws {
        try await connect { connection, server, _ in
            let client = try await server.nextClient()
            #expect(await client.text() == "subscribe")
            client.send(.ping, [7])
            #expect(await client.next() == .pong([7]))
            await connection.stop()
            #expect(await client.next() == .close)
        }
    }

    @Test func boundsTheQueue() async throws {
        try await connect(isPrivate: false) { connection, _, _ in
            var results: [Bool] = []
            for _ in 0..<5 { results.append(await connection.send(.text("x"))) }
            #expect(results == [true, true, true, true, false])
        }
    }
}
