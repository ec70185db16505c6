import LiveTesting
import NIOWebSocket
import Nostr
import PikaCore
import Testing

@testable import RelayClient

/// Relays that break the rules.
@Suite(.live)
struct LyingRelayTests {
    private let event = Author.alice.event("sound")

    /// A client with the subscription `s`, which the relay has received as `1`.
    private func conversation(
        signer: RelayPool.Signer? = nil, configure: (inout TransportConfiguration) -> Void = { _ in },
        _ body: (RelayPool, UpdateReader, LyingRelay, LyingRelay.Conversation, RelayURL) async throws -> Void
    ) async throws {
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(signer: signer, configure: configure) { pool, updates in
            await pool.subscribe(RelaySubscription(id: "s", filters: [Filter(kinds: [1])], overlap: 0))
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            #expect(await client.text() == #"["REQ","1",{"kinds":[1]}]"#)
            try await body(pool, updates, server, client, relay)
        }
        try await server.stop()
    }

    private func message(_ event: Event, on wireID: String = "1") -> String {
        String(decoding: RelayMessage.event(subscription: wireID, event).json(), as: UTF8.self)
    }

    @Test func forgeriesAndGarbageAreRefusedAndTheRestComesThrough() async throws {
        try await conversation { _, updates, _, client, relay in
            await updates.wait(for: .state(relay: relay, .connected))
            client.say(message(event.withForgedContent))
            client.say(message(event.signedLike(Author.alice.event("other"))))
            client.say("garbage")
            client.say(#"["HELLO"]"#)
            client.send(.binary, [0, 1, 2])
            client.say(message(event, on: "99"))
            client.say(message(Author.alice.event(kind: 7)))
            client.say(message(event))
            client.say(message(event))
            client.say(message(event.withForgedContent))
            client.say(#"["EOSE","1"]"#)
            var found: [RelayUpdate] = []
            for _ in 0..<10 { if let update = await updates.next() { found.append(update) } }
            let reasons = [
                "wrong id", "bad signature", "malformed", "unknown message", "binary frame", "unrequested",
                "unrequested",
            ]
            #expect(
                found == reasons.map { .refused(relay: relay, reason: $0) } + [
                    .event(relay: relay, subscription: "s", event), .refused(relay: relay, reason: "wrong id"),
                    .endOfStoredEvents(relay: relay, subscription: "s"),
                ])
        }
    }

    @Test func fragmentsAreOneMessageAndPingsBetweenThemAreAnswered() async throws {
        try await conversation { _, updates, _, client, relay in
            let bytes = Array(message(event).utf8)
            client.send(.text, Array(bytes[..<10]), fin: false)
            client.send(.ping, [7, 7])
            client.send(.continuation, Array(bytes[10..<20]), fin: false)
            client.send(.continuation, Array(bytes[20...]))
            #expect(await client.next() == .pong([7, 7]))
            #expect(await updates.events(1) == [event])
        }
    }

    @Test(arguments: ["frame", "message", "fragments", "header"])
    func oversizeEndsTheConnectionAndIsTriedAgain(_ how: String) async throws {
        let limits: (inout TransportConfiguration) -> Void = {
            $0.maximumMessageBytes = 1_000
            $0.maximumFragments = 20
        }
        try await conversation(configure: limits) { _, updates, server, client, _ in
            switch how {
            case "frame": client.send(.text, [UInt8](repeating: 0x20, count: 1_001))
            case "message":
                client.send(.text, [UInt8](repeating: 0x20, count: 600), fin: false)
                client.send(.continuation, [UInt8](repeating: 0x20, count: 600))
            case "fragments":
                client.send(.text, [0x20], fin: false)
                for _ in 0..<30 { client.send(.continuation, [0x20], fin: false) }
            // A header that promises 2^63-1 bytes, and nothing more.
            default: client.sendRaw([0x81, 127, 0x7f] + [UInt8](repeating: 0xff, count: 7))
            }
            let reason = await updates.reasonOfLoss()
            #expect(reason?.contains("too") == true, "\(reason ?? "nil")")
            let again = try await server.nextClient()
            #expect(await again.text() == #"["REQ","2",{"kinds":[1]}]"#)
        }
    }

    @Test(arguments: ["masked", "reserved", "orphan", "interleaved", "longPing"])
    func framesAgainstTheRulesEndTheConnection(_ how: String) async throws {
        try await conversation { _, updates, server, client, _ in
            switch how {
            case "masked": client.send(.text, Array("[]".utf8), masked: true)
            case "reserved": client.sendRaw([0x83, 0])
            case "orphan": client.send(.continuation, [0x20])
            case "interleaved":
                client.send(.text, [0x20], fin: false)
                client.send(.text, [0x20])
            default: client.sendRaw([0x89, 126, 0, 200] + [UInt8](repeating: 0, count: 200))
            }
            #expect(await updates.reasonOfLoss() != nil)
            _ = try await server.nextClient()
        }
    }

    @Test func hangUpInTheMiddleOfStoredEventsStartsOver() async throws {
        try await conversation { _, updates, server, client, relay in
            client.say(message(event))
            #expect(await updates.events(1) == [event])
            client.hangUp()
            let again = try await server.nextClient()
            #expect(await again.text() == #"["REQ","2",{"kinds":[1]}]"#)
            let older = Author.alice.event("older", at: 10)
            again.say(message(event, on: "2"))
            again.say(message(older, on: "2"))
            again.say(#"["EOSE","2"]"#)
            // What came before the loss does not come out again.
            #expect(await updates.events(1) == [older])
            await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
            again.send(.connectionClose, [0x03, 0xe9])
            #expect(await updates.reasonOfLoss() == "the relay closed the connection: 1001")
            let third = try await server.nextClient()
            #expect(await third.text() == #"["REQ","3",{"kinds":[1],"since":1000}]"#)
        }
    }

    @Test func emptyIDInAnAnswerResolvesTheOldest() async throws {
        try await conversation { pool, _, _, client, relay in
            let reports = await pool.publish(event, to: [relay])
            #expect(await client.text()?.hasPrefix(#"["EVENT",{"id":"\#(event.id)""#) == true)
            client.say(#"["OK","",false,"invalid: whatever"]"#)
            for await report in reports {
                #expect(report == PublishReport(relay: relay, outcome: .refused("invalid: whatever")))
            }
        }
    }

    @Test func closedIsReportedAndAskedAgainAfterReconnect() async throws {
        try await conversation { _, updates, server, client, relay in
            client.say(#"["CLOSED","1","error: shutting down"]"#)
            await updates.wait(for: .closed(relay: relay, subscription: "s", message: "error: shutting down"))
            client.hangUp()
            let again = try await server.nextClient()
            #expect(await again.text() == #"["REQ","2",{"kinds":[1]}]"#)
        }
    }

    @Test func loginIsSignedOnceAndWhatWasRefusedIsSentAgain() async throws {
        let signer: RelayPool.Signer = { Author.alice.login($0, at: $1) }
        try await conversation(signer: signer) { pool, _, _, client, relay in
            client.say(#"["CLOSED","1","auth-required: please"]"#)
            let reports = await pool.publish(event, to: [relay])
            _ = await client.text()
            client.say(#"["OK","\#(event.id)",false,"auth-required: please"]"#)
            client.say(#"["AUTH","challenge"]"#)
            let login = Author.alice.login("challenge", at: relay)
            #expect(await client.text() == String(decoding: ClientMessage.authenticate(login).json(), as: UTF8.self))
            client.say(#"["OK","\#(login.id)",true,""]"#)
            #expect(await client.text() == #"["REQ","2",{"kinds":[1]}]"#)
            #expect(await client.text()?.hasPrefix(#"["EVENT""#) == true)
            client.say(#"["OK","\#(event.id)",true,""]"#)
            for await report in reports { #expect(report.outcome == .accepted) }
        }
    }

    @Test func relayThatSaysNothingIsLeft() async throws {
        let clock = ManualClock()
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(clock: clock) { pool, updates in
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            await clock.sleeper(until: .seconds(30))
            clock.advance(to: .seconds(30))
            #expect(await client.next() == .ping)
            await clock.sleeper(until: .seconds(60))
            let reports = await pool.publish(Author.alice.event(), to: [relay])
            await clock.sleeper(until: .seconds(40))
            clock.advance(to: .seconds(40))
            for await report in reports { #expect(report.outcome == .unreachable("no answer")) }
            clock.advance(to: .seconds(60))
            #expect(await updates.reasonOfLoss() == "nothing came for 60 s")
            await client.end()
            await clock.sleeper(until: .seconds(60) ... .seconds(61))
            clock.advance(to: .seconds(61))
            _ = try await server.nextClient()
        }
        try await server.stop()
    }

    @Test func pongsKeepASilentRelay() async throws {
        let clock = ManualClock()
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(clock: clock) { pool, updates in
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            for beat in 1...5 {
                await clock.sleeper(until: .seconds(30 * beat))
                clock.advance(to: .seconds(30 * beat))
                #expect(await client.next() == .ping)
                client.send(.pong, [])
                // The answer to a request shows that the pong before it was heard.
                async let found = pool.fetch(
                    [Filter(kinds: [UInt16(beat)].map(Kind.init(rawValue:)))], from: [relay], timeout: .seconds(5))
                _ = await client.text()
                client.say(#"["EOSE","\#(beat)"]"#)
                #expect(await found == [relay: .events([])])
                _ = await client.text()
            }
            await updates.wait(for: .state(relay: relay, .connected))
        }
        try await server.stop()
    }

    @Test func whatComesWithTheUpgradeIsHeard() async throws {
        let server = try await LyingRelay.start(greeting: #"["HELLO"]"#)
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool { pool, updates in
            await pool.setRelays([relay])
            for _ in 0..<20 {
                let client = try await server.nextClient()
                await updates.wait(for: .refused(relay: relay, reason: "unknown message"))
                client.hangUp()
            }
        }
        try await server.stop()
    }

    @Test func serverWithoutWebSocketIsNamedSo() async throws {
        let server = try await LyingRelay.start(upgrades: false)
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool { pool, updates in
            await pool.setRelays([relay])
            #expect(await updates.reasonOfLoss() == "the server speaks no WebSocket here")
        }
        try await server.stop()
    }

    @Test func goodbyeWaitsForTheAnswerAndNotForEver() async throws {
        let server = try await LyingRelay.start(answersClose: false)
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(configure: { $0.closeTimeout = .milliseconds(50) }) { pool, updates in
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            await updates.wait(for: .state(relay: relay, .connected))
            await pool.shutdown()
            #expect(await client.next() == .close)
            await client.end()
        }
        try await server.stop()
    }

    @Test func laggingConsumerStopsTheReadingAndLosesNothing() async throws {
        let limits: (inout TransportConfiguration) -> Void = {
            $0.bufferedUpdates = 4
            $0.smallestCap = 1_000
        }
        try await conversation(configure: limits) { _, updates, _, client, relay in
            let events = (0..<500).map { Author.alice.event("\($0)", at: Int64($0)) }
            for event in events { client.say(message(event)) }
            client.say(#"["EOSE","1"]"#)
            #expect(await updates.events(500) == events)
            await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
        }
    }

    @Test func shutdownDoesNotWaitForALaggingConsumer() async throws {
        try await conversation(configure: { $0.bufferedUpdates = 1 }) { pool, updates, _, client, relay in
            await updates.wait(for: .state(relay: relay, .connected))
            for number in 0..<50 { client.say(message(Author.alice.event("\(number)"))) }
            await updates.first { if case .event = $0 { true } else { false } }
            await pool.shutdown()
            while let update = await updates.next() { _ = update }
        }
    }
}
