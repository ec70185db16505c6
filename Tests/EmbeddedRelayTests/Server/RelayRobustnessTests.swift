import Errors
import LiveTesting
import Logging
import NIOCore
import NIOWebSocket
import Nostr
import ServiceLifecycle
import Testing

@testable import EmbeddedRelay

@Suite(.live)
struct RelayRobustnessTests {
    @Test func answersGarbageAndStaysOpen() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            for text in ["", "{", "[\"EVENT\"]", "[\"REQ\",\"\",{}]", "\u{0}", "[1,2,3]"] {
                try await client.send(text: text)
                guard case .notice(let reason) = try await client.next() else { return #expect(Bool(false), "\(text)") }
                #expect(reason.hasPrefix("invalid: "))
            }
            try await client.send(.text, [0x5b, 0xff, 0xfe, 0x5d])
            guard case .notice = try await client.next() else { return #expect(Bool(false)) }
            let forged = Author.alice.event("a").forged
            #expect(try await client.publish(forged).accepted == false)
            #expect(try await client.request("ok", Filter()) == [])
        }
    }

    @Test func survivesRandomBytes() async throws {
        try await withEmbeddedRelay { _, address in
            var generator = SplitMix64(seed: 21)
            let client = try await TestClient.connect(address)
            let valid = ClientMessage.event(Author.alice.event("hello", tags: [Tag("e", "x")])).json()
            for _ in 0..<300 {
                var bytes = valid
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                try await client.send(.text, Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
                switch try await client.next() {
                case .notice, .ok: continue
                case let other: Issue.record("unexpected result: \(other)")
                }
            }
        }
    }

    @Test func closesOnOversizedMessage() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.messageBytes = 1_000
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let whole = try await TestClient.connect(address)
            try await whole.send(text: String(repeating: "x", count: 1_000))
            guard case .notice = try await whole.next() else { return #expect(Bool(false)) }
            try await whole.send(text: String(repeating: "x", count: 1_001))
            #expect(await whole.receive() == .close(1_009))

            let parts = try await TestClient.connect(address)
            try await parts.send(.text, Array(repeating: 0x78, count: 600), fin: false)
            try await parts.send(.continuation, Array(repeating: 0x78, count: 600))
            #expect(await parts.receive() == .close(1_009))
        }
    }

    @Test func joinsFragments() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            let json = ClientMessage.request(subscription: "a", filters: [Filter()]).json()
            try await client.send(.text, Array(json.prefix(5)), fin: false)
            try await client.send(.ping, [1, 2, 3])
            try await client.send(.continuation, Array(json.dropFirst(5)))
            #expect(await client.receive() == .pong([1, 2, 3]))
            #expect(try await client.next() == .endOfStoredEvents(subscription: "a"))
        }
    }

    @Test func refusesUnmaskedAndBinaryFrames() async throws {
        try await withEmbeddedRelay { _, address in
            let unmasked = try await TestClient.connect(address)
            try await unmasked.send(.text, Array("[]".utf8), masked: false)
            #expect(await unmasked.receive() == .close(1_002))
            let binary = try await TestClient.connect(address)
            try await binary.send(.binary, [1])
            #expect(await binary.receive() == .close(1_003))
        }
    }

    @Test func echoesCloseFrameAndDisconnects() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            try await client.send(.connectionClose, [0x03, 0xe8])
            #expect(await client.receive() == .close(1_000))
            #expect(await client.receive() == .end)
        }
    }

    @Test func disconnectsClientThatDoesNotRead() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.backlogBytes = 1 << 20
        try await withEmbeddedRelay(configuration: configuration) { relay, address in
            let slow = try await TestClient.connect(address)
            _ = try await slow.request("all", Filter(kinds: [1]))
            try await slow.channel.setOption(.autoRead, value: false).get()
            let publisher = try await TestClient.connect(address)
            let text = String(repeating: "x", count: 100_000)
            // Kernel buffers absorb a few megabytes before the relay's own backlog begins to fill.
            var sent = 0
            while relay.connectionCount == 2, sent < 400 {
                #expect(try await publisher.publish(Author.alice.event(text, at: UnixTime(Int64(sent)))).accepted)
                sent += 1
            }
            #expect(relay.connectionCount == 1)
            #expect(relay.subscriptionCount == 0)
        }
    }

    @Test func pausesReadingFromSlowClient() async throws {
        try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            let text = String(repeating: "x", count: 100_000)
            for index in 0..<100 { _ = try await client.publish(Author.alice.event(text, at: UnixTime(Int64(index)))) }
            try await client.channel.setOption(.autoRead, value: false).get()
            for index in 0..<20 {
                try await client.send(.request(subscription: "\(index)", filters: [Filter()]))
            }
            try await client.channel.setOption(.autoRead, value: true).get()
            for index in 0..<20 {
                for _ in 0..<100 { _ = try await client.next() }
                #expect(try await client.next() == .endOfStoredEvents(subscription: "\(index)"))
            }
        }
    }

    @Test func disconnectsClientThatIgnoresAnswers() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.stallTimeout = .milliseconds(50)
        try await withEmbeddedRelay(configuration: configuration) { relay, address in
            let stalled = try await TestClient.connect(address)
            let other = try await TestClient.connect(address)
            let text = String(repeating: "x", count: 200_000)
            for index in 0..<100 { _ = try await other.publish(Author.alice.event(text, at: UnixTime(Int64(index)))) }
            try await stalled.channel.setOption(.autoRead, value: false).get()
            try await stalled.send(.request(subscription: "all", filters: [Filter()]))
            while relay.connectionCount == 2 { _ = try await other.request("tick", Filter(limit: 0)) }
            #expect(try await other.request("last", Filter(limit: 0)) == [])
        }
    }

    @Test func disconnectsSilentClient() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.idleTimeout = .seconds(1)
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            // This client answers no pings.
            let client = try await TestClient.connect(address)
            #expect(await client.receive() == .end)
            #expect(try await exchange("GET / HTTP/1.1\r\n", address: address) == "")
        }
    }

    @Test func limitsConnections() async throws {
        var configuration = RelayConfiguration()
        configuration.limits.connections = 2
        try await withEmbeddedRelay(configuration: configuration) { _, address in
            let first = try await TestClient.connect(address)
            let second = try await TestClient.connect(address)
            await #expect(throws: (any Error).self) { try await TestClient.connect(address) }
            #expect(try await first.request("a", Filter()) == [])
            #expect(try await second.request("a", Filter()) == [])
        }
    }

    @Test func flushesAnswersBeforeCloseFrames() async throws {
        let relay = Relay()
        let group = ServiceGroup(services: [relay], logger: Logger(label: "test"))
        async let running: Void = group.run()
        let port = try await relay.waitUntilListening()
        let client = try await TestClient.connect("ws://127.0.0.1:\(port)", answersClose: false)
        let event = Author.alice.event("last words")
        #expect(try await client.publish(event).accepted)
        await group.triggerGracefulShutdown()
        #expect(await client.receive() == .close(1_001))
        try await client.send(.connectionClose, [0x03, 0xe9])
        #expect(await client.receive() == .end)
        try await running
        #expect(relay.connectionCount == 0)
        await #expect(throws: (any Error).self) { try await TestClient.connect("ws://127.0.0.1:\(port)") }
        await #expect(throws: RelayError(.notListening, "")) { try await relay.waitUntilListening() }
        await #expect(throws: RelayError(.alreadyRun, "")) { try await relay.run() }
    }

    @Test func stopDoesNotWaitForSilentClients() async throws {
        var configuration = RelayConfiguration()
        configuration.shutdownGrace = .milliseconds(50)
        let client = try await withEmbeddedRelay(configuration: configuration) { _, address in
            let client = try await TestClient.connect(address, answersClose: false)
            // An answer proves that the relay has registered the client, and does not only upgrade its connection.
            #expect(try await client.request("a", Filter()) == [])
            return client
        }
        #expect(await client.receive() == .close(1_001))
        #expect(await client.receive() == .end)
    }

    @Test func refusesInvalidSocketConfiguration() async throws {
        var port = RelayConfiguration()
        port.port = 65_536
        var message = RelayConfiguration()
        message.limits.messageBytes = 0
        for configuration in [port, message] {
            let relay = Relay(configuration: configuration)
            await #expect(throws: RelayError(.invalidConfiguration, "")) { try await relay.run() }
            await #expect(throws: RelayError(.notListening, "")) { try await relay.waitUntilListening() }
        }
    }

    @Test func stopsDuringQueries() async throws {
        let client = try await withEmbeddedRelay { _, address in
            let client = try await TestClient.connect(address)
            for index in 0..<200 { _ = try await client.publish(Author.alice.event("\(index)")) }
            for index in 0..<50 { try await client.send(.request(subscription: "\(index)", filters: [Filter()])) }
            return client
        }
        var last = await client.receive()
        while case .message = last { last = await client.receive() }
        #expect(last == .close(1_001))
    }

    @Test func reportsPortInUse() async throws {
        try await withEmbeddedRelay { relay, _ in
            var configuration = RelayConfiguration()
            configuration.port = try await relay.waitUntilListening()
            await #expect(throws: RelayError(.bindFailed, "")) { try await Relay(configuration: configuration).run() }
        }
    }
}
