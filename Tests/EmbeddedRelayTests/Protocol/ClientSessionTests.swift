import NIOCore
import Nostr
import Testing

@testable import EmbeddedRelay

struct ClientSessionTests {
    private let now: UnixTime = 1_700_000_000

    private func session(
        loginRequired: Bool = false, _ change: (inout RelayLimits) -> Void = { _ in }
    ) throws -> ClientSession {
        var limits = RelayLimits()
        change(&limits)
        return ClientSession(
            challenge: "c0ffee", address: try RelayURL("ws://127.0.0.1:1234"),
            acceptance: Acceptance(limits: limits, requireAuthentication: loginRequired), now: now)
    }

    @Test func storesThenAnswersWithTheOutcome() throws {
        var session = try session()
        let event = Author.alice.event("hi")
        #expect(session.received(.event(event), now: now) == .store(event))
        #expect(
            session.reply(to: event.id, outcome: .stored(sequence: 1)) == .ok(event.id, accepted: true, message: ""))
        let replies = [StoreOutcome.duplicate, .superseded, .deleted, .failed].map {
            session.reply(to: event.id, outcome: $0)
        }
        #expect(
            replies == [
                .ok(event.id, accepted: true, message: "duplicate: already have this event"),
                .ok(event.id, accepted: true, message: "duplicate: have a newer version of this event"),
                .ok(event.id, accepted: false, message: "blocked: this event was deleted by its author"),
                .ok(event.id, accepted: false, message: "error: the event could not be stored"),
            ])
    }

    @Test func broadcastsEphemeralEventsWithTheirOK() throws {
        var session = try session()
        let event = Author.alice.event(kind: .typing)
        #expect(
            session.received(.event(event), now: now)
                == .broadcast(event, [.ok(event.id, accepted: true, message: "")]))
    }

    @Test func replacedRequestGetsANewSerial() throws {
        var session = try session()
        let request = ClientMessage.request(subscription: "a", filters: [Filter(kinds: [1])])
        #expect(
            session.received(request, now: now)
                == .query(serial: 0, name: "a", filters: [Filter(kinds: [1])], replacing: nil))
        #expect(
            session.received(request, now: now)
                == .query(serial: 1, name: "a", filters: [Filter(kinds: [1])], replacing: 0))
        #expect(session.received(.close(subscription: "a"), now: now) == .unsubscribe(serial: 1))
        #expect(session.received(.close(subscription: "a"), now: now) == .nothing)
    }

    @Test func dropsLiveEventsOfAReplacedRequest() throws {
        var session = try session()
        let live = LiveEvent(sequence: 9, message: ByteBuffer(string: "x"))
        _ = session.received(.request(subscription: "a", filters: [Filter()]), now: now)
        _ = session.received(.request(subscription: "a", filters: [Filter()]), now: now)
        #expect(session.answered("a", serial: 0, snapshot: 3) == nil)
        #expect(session.answered("a", serial: 1, snapshot: 3) == [])
        #expect(session.delivered(live, to: "a", serial: 0) == .drop)
        #expect(session.delivered(live, to: "a", serial: 1) == .send)
        #expect(session.delivered(live, to: "b", serial: 1) == .drop)
    }

    @Test func enforcesLimits() throws {
        var session = try session {
            $0.subscriptionsPerConnection = 1
            $0.filtersPerRequest = 2
            $0.valuesPerFilter = 3
            $0.subscriptionIDBytes = 8
        }
        func closed(_ name: String, _ filters: [Filter]) -> String? {
            let action = session.received(.request(subscription: name, filters: filters), now: now)
            guard case .reply(let messages) = action, case .closed(name, let text)? = messages.first else { return nil }
            return text
        }
        #expect(closed("a", [Filter(), Filter(), Filter()]) == "invalid: a request must have 1 to 2 filters")
        #expect(closed("a", []) == "invalid: a request must have 1 to 2 filters")
        #expect(closed("", [Filter()]) == "invalid: a subscription id must have 1 to 8 bytes")
        #expect(closed("123456789", [Filter()]) == "invalid: a subscription id must have 1 to 8 bytes")
        let wide = Filter(kinds: [1, 2], tags: ["e": ["1", "2"]])
        #expect(closed("a", [wide]) == "invalid: a filter has more than 3 values")
        #expect(closed("a", [Filter()]) == nil)
        #expect(closed("a", [Filter()]) == nil)
        #expect(closed("b", [Filter()]) == "restricted: more than 1 subscriptions")
    }

    @Test func limitsEventRate() throws {
        var session = try session { $0.messagesPerSecond = 1 }
        let event = Author.alice.event()
        #expect(session.received(.event(event), now: now) == .store(event))
        #expect(session.received(.event(event), now: now) == .store(event))
        let refused = RelayMessage.ok(event.id, accepted: false, message: "rate-limited: slow down")
        #expect(session.received(.event(event), now: now) == .reply([refused]))
        #expect(session.received(.event(event), now: now + 1) == .store(event))
    }

    @Test func limitsRequestAndLoginRate() throws {
        var session = try session { $0.messagesPerSecond = 1 }
        let login = try Author.alice.login("c0ffee", at: "ws://127.0.0.1:1234", now: now)
        let closed = RelayMessage.closed(subscription: "a", message: "rate-limited: slow down")
        let request = ClientMessage.request(subscription: "a", filters: [Filter()])
        _ = session.received(request, now: now)
        _ = session.received(.authenticate(login), now: now)
        #expect(session.received(request, now: now) == .reply([closed]))
        #expect(session.received(.count(subscription: "a", filters: [Filter()]), now: now) == .reply([closed]))
        #expect(
            session.received(.authenticate(login), now: now)
                == .reply([.ok(login.id, accepted: false, message: "rate-limited: slow down")]))
        // Ending a subscription reduces the load, so it is always allowed.
        #expect(session.received(.close(subscription: "a"), now: now) == .unsubscribe(serial: 0))
        #expect(session.received(request, now: now + 1, isAddressLimited: true) == .reply([closed]))
    }

    @Test func sendsChallengeOnConnectWhenRequired() throws {
        var session = try session(loginRequired: true)
        #expect(session.opened() == [.authentication(challenge: "c0ffee")])
        let closed = RelayMessage.closed(subscription: "a", message: "auth-required: log in before reading")
        #expect(session.received(.request(subscription: "a", filters: [Filter()]), now: now) == .reply([closed]))
        #expect(session.received(.count(subscription: "a", filters: [Filter()]), now: now) == .reply([closed]))
        let login = try Author.alice.login("c0ffee", at: "ws://127.0.0.1:1234", now: now)
        #expect(
            session.received(.authenticate(login), now: now) == .reply([.ok(login.id, accepted: true, message: "")]))
        #expect(
            session.received(.count(subscription: "a", filters: [Filter()]), now: now)
                == .count(name: "a", filters: [Filter()]))
    }

    @Test func sendsChallengeOnceBeforeProtectedRefusal() throws {
        var session = try session()
        #expect(session.opened() == [])
        let event = Author.alice.event(tags: [.protected])
        let refused = RelayMessage.ok(
            event.id, accepted: false, message: "auth-required: only its author may publish a protected event")
        #expect(session.received(.event(event), now: now) == .reply([.authentication(challenge: "c0ffee"), refused]))
        #expect(session.received(.event(event), now: now) == .reply([refused]))
    }

    @Test(
        arguments: [
            ("other", "ws://127.0.0.1:1234", 0), ("c0ffee", "ws://relay.example", 0),
            ("c0ffee", "ws://127.0.0.1:1234", 9_999),
        ] as [(String, String, Int64)])
    func refusesMismatchedLogin(challenge: String, address: String, late: Int64) throws {
        var session = try session(loginRequired: true)
        let login = try Author.alice.login(challenge, at: address, now: now)
        let action = session.received(.authenticate(login), now: now + late)
        guard case .reply(let messages) = action, case .ok(login.id, false, let text)? = messages.first else {
            Issue.record("expected a refusal, found \(action)")
            return
        }
        #expect(text.hasPrefix("restricted: "))
        #expect(session.authenticated.isEmpty)
    }
}
