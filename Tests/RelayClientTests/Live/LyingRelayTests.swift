import LiveTesting
import NIOWebSocket
import NetworkAddresses
import Nostr
import PikaCore
import Synchronization
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

    @Test func refusesForgeriesAndDeliversTheRest() async throws {
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

    @Test func joinsFragmentsAndAnswersInterleavedPings() async throws {
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
    func oversizedMessageDisconnectsAndRetries(_ how: String) async throws {
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
    func invalidFramesEndTheConnection(_ how: String) async throws {
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

    @Test func disconnectDuringStoredEventsRestartsThePage() async throws {
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
            // Events from before the loss are not delivered again.
            #expect(await updates.events(1) == [older])
            await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
            again.send(.connectionClose, [0x03, 0xe9])
            #expect(await updates.reasonOfLoss() == "the relay closed the connection: 1001")
            let third = try await server.nextClient()
            #expect(await third.text() == #"["REQ","3",{"kinds":[1],"since":1000}]"#)
        }
    }

    @Test func endlessStoredEventsDoNotBlockOthers() async throws {
        let server = try await LyingRelay.start()
        let other = try await LyingRelay.start()
        let relays = [server, other].map { RelayURL.known("ws://127.0.0.1:\($0.port)") }
        let limits: (inout TransportConfiguration) -> Void = {
            $0.pageEvents = 20
            $0.surplusBytes = 20_000
        }
        try await withPool(configure: limits) { pool, updates in
            await pool.subscribe(RelaySubscription(id: "s", filters: [Filter(kinds: [1], limit: 1)], overlap: 0))
            await pool.setRelays([relays[0]])
            let client = try await server.nextClient()
            _ = await client.text()
            let found = await withTaskGroup(of: [RelayURL: FetchOutcome].self) { group in
                group.addTask { await pool.fetch([Filter(kinds: [7])], from: relays, timeout: .seconds(60)) }
                _ = await client.text()
                let second = try? await other.nextClient()
                _ = await second?.text()
                second?.say(#"["EOSE","1"]"#)
                // The stored events of both requests never end.
                for number in 1...30 {
                    client.say(message(Author.alice.event("\(number)", at: UnixTime(Int64(1_000 + number)))))
                    client.say(message(Author.alice.event("\(number)", kind: 7), on: "2"))
                }
                return await group.next()
            }
            #expect(found == [relays[0]: .failed("the response is too large"), relays[1]: .events([])])
            // The standing subscription continues, without loss.
            #expect(await updates.events(30).count == 30)
            for number in 1...200 { client.say(message(Author.alice.event("\(number)", kind: 7), on: "2")) }
            #expect(await updates.reasonOfLoss() == "the relay sends too many unrequested events")
            let again = try await server.nextClient()
            #expect(await again.text() == #"["REQ","3",{"kinds":[1],"limit":1}]"#)
        }
        try await server.stop()
        try await other.stop()
    }

    @Test func countsRelaysWithoutEndOfStoredEvents() async throws {
        let clock = ManualClock()
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(clock: clock) { pool, updates in
            await pool.subscribe(RelaySubscription(id: "s", filters: [Filter(kinds: [1])], overlap: 0))
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            for beat in 1...2 {
                await clock.sleeper(until: .seconds(30 * beat))
                // Any received frame keeps the connection.
                client.say(#"["NOTICE","\#(beat)"]"#)
                client.say("garbage")
                await updates.wait(for: .refused(relay: relay, reason: "malformed"))
                clock.advance(to: .seconds(30 * beat))
            }
            await updates.wait(for: .refused(relay: relay, reason: "no end of stored events"))
            client.say(message(event))
            #expect(await updates.events(1) == [event])
        }
        try await server.stop()
    }

    @Test func emptyOKIDResolvesOldestPublication() async throws {
        try await conversation { pool, _, _, client, relay in
            let reports = await pool.publish(event, to: [relay])
            #expect(await client.text()?.hasPrefix(#"["EVENT",{"id":"\#(event.id)""#) == true)
            client.say(#"["OK","",false,"invalid: whatever"]"#)
            for await report in reports {
                #expect(report == PublishReport(relay: relay, outcome: .refused("invalid: whatever")))
            }
        }
    }

    @Test func resubscribesAfterClosedAndReconnect() async throws {
        try await conversation { _, updates, server, client, relay in
            client.say(#"["CLOSED","1","error: shutting down"]"#)
            await updates.wait(for: .closed(relay: relay, subscription: "s", message: "error: shutting down"))
            client.hangUp()
            let again = try await server.nextClient()
            #expect(await again.text() == #"["REQ","2",{"kinds":[1]}]"#)
        }
    }

    @Test func signsLoginOnceAndResendsRefusedEvents() async throws {
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

    @Test func refusesForeignRelayAtPrivateAddress() async throws {
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(addresses: AddressGuard(allowsPrivate: false)) { pool, updates in
            await pool.setRelays([relay])
            #expect(await updates.reasonOfLoss()?.contains("private address") == true)
            await pool.setConfiguredRelays([relay])
            await pool.reconnect()
            _ = try await server.nextClient()
            await updates.wait(for: .state(relay: relay, .connected))
        }
        try await server.stop()
    }

    /// The name server answers differently every time.
    @Test func checksRelayAddressOnEveryConnection() async throws {
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://rebinding.invalid:\(server.port)")
        let lookups = Mutex(0)
        let addresses = AddressGuard(allowsPrivate: false) { _ in
            let count = lookups.withLock { count in
                count += 1
                return count
            }
            return [HostAddress(text: "127.0.0.1", scope: count == 1 ? .global : .local)]
        }
        try await withPool(addresses: addresses) { pool, updates in
            await pool.setRelays([relay])
            let client = try await server.nextClient()
            client.hangUp()
            #expect(await updates.reasonOfLoss()?.contains("closed") == true)
            #expect(await updates.reasonOfLoss()?.contains("private address") == true)
        }
        try await server.stop()
    }

    @Test func logsInOnlyAtConfiguredRelays() async throws {
        let signed = Mutex<[String]>([])
        let signer: RelayPool.Signer = { challenge, relay in
            signed.withLock { $0.append(challenge) }
            return Author.alice.login(challenge, at: relay)
        }
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(signer: signer, addresses: AddressGuard(allowsPrivate: true)) { pool, _ in
            let reports = await pool.publish(event, to: [relay])
            let client = try await server.nextClient()
            _ = await client.text()
            client.say(#"["AUTH","who are you"]"#)
            client.say(#"["OK","\#(event.id)",false,"auth-required: please"]"#)
            for await report in reports { #expect(report.outcome == .refused("auth-required: please")) }
            #expect(signed.withLock { $0 } == [])
            // The account joins a group that uses the relay.
            await pool.setRelays([relay])
            let login = Author.alice.login("who are you", at: relay)
            #expect(await client.text() == String(decoding: ClientMessage.authenticate(login).json(), as: UTF8.self))
            #expect(login.firstTag("relay")?.value == relay.string)
        }
        try await server.stop()
    }

    @Test func logsInAtConfiguredRelayOutsideSet() async throws {
        let signer: RelayPool.Signer = { Author.alice.login($0, at: $1) }
        let server = try await LyingRelay.start()
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool(signer: signer, addresses: AddressGuard(allowsPrivate: false)) { pool, _ in
            await pool.setConfiguredRelays([relay])
            let reports = await pool.publish(event, to: [relay])
            let client = try await server.nextClient()
            _ = await client.text()
            client.say(#"["AUTH","c"]"#)
            let login = Author.alice.login("c", at: relay)
            #expect(await client.text() == String(decoding: ClientMessage.authenticate(login).json(), as: UTF8.self))
            client.say(#"["OK","\#(event.id)",true,""]"#)
            for await report in reports { #expect(report.outcome == .accepted) }
        }
        try await server.stop()
    }

    @Test func disconnectsSilentRelay() async throws {
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
            for await report in reports { #expect(report.outcome == .unreachable("timed out waiting for a response")) }
            clock.advance(to: .seconds(60))
            #expect(await updates.reasonOfLoss() == "no data received for 60 s")
            await client.end()
            await clock.sleeper(until: .seconds(60) ... .seconds(61))
            clock.advance(to: .seconds(61))
            _ = try await server.nextClient()
        }
        try await server.stop()
    }

    @Test func pongsKeepConnectionAlive() async throws {
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
                // The answer to a request shows that the earlier pong was received.
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

    @Test func readsFramesSentWithTheUpgrade() async throws {
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

    @Test func reportsServerWithoutWebSocket() async throws {
        let server = try await LyingRelay.start(upgrades: false)
        let relay = RelayURL.known("ws://127.0.0.1:\(server.port)")
        try await withPool { pool, updates in
            await pool.setRelays([relay])
            #expect(await updates.reasonOfLoss() == "the server refused the WebSocket upgrade")
        }
        try await server.stop()
    }

    @Test func closeWaitsBoundedTimeForAnswer() async throws {
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

    @Test func laggingConsumerPausesReadingWithoutLoss() async throws {
        let limits: (inout TransportConfiguration) -> Void = {
            $0.bufferedUpdates = 4
            $0.smallestCap = 1_000
        }
        try await conversation(configure: limits) { _, updates, _, client, relay in
            let events = (0..<500).map { Author.alice.event("\($0)", at: UnixTime(Int64($0))) }
            for event in events { client.say(message(event)) }
            client.say(#"["EOSE","1"]"#)
            #expect(await updates.events(500) == events)
            await updates.wait(for: .endOfStoredEvents(relay: relay, subscription: "s"))
        }
    }

    @Test func shutdownDoesNotWaitForLaggingConsumer() async throws {
        try await conversation(configure: { $0.bufferedUpdates = 1 }) { pool, updates, _, client, relay in
            await updates.wait(for: .state(relay: relay, .connected))
            for number in 0..<50 { client.say(message(Author.alice.event("\(number)"))) }
            await updates.first { if case .event = $0 { true } else { false } }
            await pool.shutdown()
            while let update = await updates.next() { _ = update }
        }
    }
}
