import Nostr
import PikaCore
import Testing

@testable import RelayClient

struct FetchTests {
    private func event(_ content: String, at createdAt: UnixTime) -> Event {
        Author.alice.event(content, at: createdAt)
    }

    @Test func returnsStoredEventsNewestFirst() {
        var machine = Machine.connected()
        #expect(
            machine.fetch(1, Filter(kinds: [1])) == [
                .schedule(.deadline(at: .seconds(5)), after: .seconds(5)), Machine.request("1", Filter(kinds: [1])),
            ])
        let (old, new) = (event("old", at: 1), event("new", at: 2))
        #expect(machine.receive(old, on: "1") == [])
        #expect(machine.receive(new, on: "1") == [])
        #expect(machine.receive(old, on: "1") == [])
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1"))
                == [Machine.close("1"), .resolveFetch(1, .events([new, old]))])
        #expect(machine.receive(event("late", at: 3), on: "1") == [])
    }

    @Test func ordersSimultaneousEventsByID() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [1]))
        let events = (0..<2).map { event("\($0)", at: 5) }.sorted { $0.id < $1.id }
        for event in events.reversed() { _ = machine.receive(event, on: "1") }
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1")).last == .resolveFetch(1, .events(events)))
    }

    @Test func fetchRefusesUnrequestedEvents() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [7]))
        #expect(machine.receive(event("x", at: 1), on: "1") == [Machine.unrequested])
    }

    @Test func closedFailsTheFetch() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [1]))
        #expect(
            machine.receive(.closed(subscription: "1", message: "error: no"))
                == [.resolveFetch(1, .failed("error: no"))])
    }

    @Test func timeoutFailsAndClosesTheRequest() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [1]))
        machine.pass(.seconds(5))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(5)), now: machine.now)
                == [Machine.close("1"), .resolveFetch(1, .failed("timed out waiting for a response"))])
    }

    @Test func timesOutWithoutConnection() {
        var machine = Machine()
        #expect(machine.fetch(1, Filter(kinds: [1])).last == .connect(session: 1))
        machine.pass(.seconds(5))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(5)), now: machine.now)
                == [.resolveFetch(1, .failed("the connection attempt timed out"))])
    }

    @Test func reconnectResumesAtTheCurrentPage() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [1]))
        let events = [9, 8, 7].map { event("\($0)", at: $0) }
        for event in events { _ = machine.receive(event, on: "1") }
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1"))
                == [Machine.close("1"), Machine.request("2", Filter(kinds: [1], until: 7))])
        let old = event("old", at: 2)
        _ = machine.receive(old, on: "2")
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1], until: 7)))
        _ = machine.receive(events[2], on: "3")
        _ = machine.receive(old, on: "3")
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "3"))
                == [Machine.close("3"), .resolveFetch(1, .events(events + [old]))])
    }

    @Test func oversizedAnswerFails() {
        var machine = Machine.connected { $0.fetchedBytes = 250 }
        _ = machine.fetch(1, Filter(kinds: [1]))
        _ = machine.receive(event("a", at: 1), on: "1")
        _ = machine.receive(event("b", at: 2), on: "1")
        #expect(
            machine.receive(event("c", at: 3), on: "1")
                == [Machine.close("1"), .resolveFetch(1, .failed("the response is too large"))])
    }

    @Test func waitsForLogin() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.fetch(1, Filter(kinds: [1]))
        #expect(machine.receive(.closed(subscription: "1", message: "auth-required: x")) == [])
        _ = machine.receive(.authentication(challenge: "c"))
        let login = Author.alice.login("c", at: Machine.relay)
        _ = machine.machine.signed(login, challenge: "c", session: 1)
        #expect(
            machine.receive(.ok(login.id, accepted: true, message: ""))
                == [Machine.request("2", Filter(kinds: [1]))])
        #expect(
            machine.receive(.closed(subscription: "2", message: "auth-required: y"))
                == [.resolveFetch(1, .failed("auth-required: y"))])
    }

    @Test func failedLoginFailsTheFetch() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.fetch(1, Filter(kinds: [1]))
        _ = machine.receive(.authentication(challenge: "c"))
        _ = machine.receive(.closed(subscription: "1", message: "auth-required: x"))
        #expect(
            machine.machine.signed(nil, challenge: "c", session: 1)
                == [.resolveFetch(1, .failed("auth-required: x"))])
    }

    @Test func relayOutsideTheSetLingersThenDisconnects() {
        var machine = Machine()
        _ = machine.fetch(1, Filter(kinds: [1]))
        _ = machine.connect()
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1")) == [
                Machine.close("1"), .resolveFetch(1, .events([])), .schedule(.linger(2), after: .seconds(30)),
            ])
    }
}
