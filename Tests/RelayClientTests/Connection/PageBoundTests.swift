import Nostr
import PikaCore
import Testing

@testable import RelayClient

/// Limits of the events that a relay sends before EOSE, or without a request.
struct PageBoundTests {
    private typealias Action = RelayConnection.StateMachine.Action

    private let endless = Action.emit(.refused(relay: Machine.relay, reason: "no end of stored events"))

    private func event(_ number: Int) -> Event { Author.alice.event("\(number)", at: UnixTime(Int64(1_000 + number))) }

    private func beat(_ machine: inout Machine) -> [Action] {
        machine.pass(.seconds(30))
        _ = machine.receive(.notice("alive"))
        return machine.machine.elapsed(.heartbeat(session: 1), now: machine.now)
    }

    @Test func abandonsPageWithoutProgress() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(beat(&machine).first == .ping)
        // Progress restarts the timeout, a repeated event does not.
        _ = machine.receive(event(1), on: "1")
        #expect(beat(&machine).first == .ping)
        _ = machine.receive(event(1), on: "1")
        #expect(beat(&machine).first == endless)
        #expect(machine.machine.subscriptions["s"]?.stage == .overdue)
        #expect(beat(&machine).first == .ping)
    }

    @Test func overdueSubscriptionKeepsReceivingNewEvents() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for _ in 1...2 { _ = beat(&machine) }
        #expect(machine.receive(event(1), on: "1") == [Machine.event("s", event(1))])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [Machine.end("s")])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [])
        // Its position has not moved, so the omitted events are requested again.
        #expect(machine.reconnect().last == Machine.request("2", Filter(kinds: [1])))
    }

    @Test func closesOverduePageOfSubscription() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for number in 1...3 { _ = machine.receive(event(number), on: "1") }
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1"))
                == [Machine.request("2", Filter(kinds: [1], until: 1_001))])
        _ = beat(&machine)
        #expect(beat(&machine).prefix(2) == [Machine.close("2"), endless])
        #expect(machine.receive(event(4), on: "1") == [Machine.event("s", event(4))])
    }

    @Test func overdueFetchFailsAlone() {
        var machine = Machine.connected()
        _ = machine.fetch(1, Filter(kinds: [1]), timeout: .seconds(600))
        _ = beat(&machine)
        _ = machine.fetch(2, Filter(kinds: [1]), timeout: .seconds(600))
        #expect(
            beat(&machine).prefix(3) == [
                Machine.close("1"), endless, .resolveFetch(1, .failed("the relay did not end its stored events")),
            ])
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "2")) == [
                Machine.close("2"), .resolveFetch(2, .events([])),
            ])
    }

    @Test func pausedReadingIsNotOverdue() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = beat(&machine)
        machine.machine.readingHeld()
        for _ in 1...5 { #expect(beat(&machine).first == .ping) }
        machine.machine.readingResumed(now: machine.now)
        #expect(beat(&machine).first == .ping)
        #expect(beat(&machine).first == endless)
    }

    @Test func boundsNumberOfStoredEvents() {
        var machine = Machine.connected { $0.pageEvents = 5 }
        _ = machine.subscribe("s", Filter(kinds: [1], limit: 1))
        for number in 1...5 { #expect(machine.receive(event(number), on: "1") == [Machine.event("s", event(number))]) }
        #expect(machine.receive(event(6), on: "1") == [Machine.event("s", event(6)), endless])
        #expect(machine.machine.subscriptions["s"]?.stage == .overdue)
        #expect(machine.receive(event(7), on: "1") == [Machine.event("s", event(7))])
    }

    @Test func boundsNumberOfFetchedEvents() {
        var machine = Machine.connected { $0.pageEvents = 5 }
        _ = machine.fetch(1, Filter(kinds: [1]))
        for number in 1...5 { #expect(machine.receive(event(number), on: "1") == []) }
        #expect(
            machine.receive(event(6), on: "1")
                == [Machine.close("1"), endless, .resolveFetch(1, .failed("the response is too large"))])
    }

    @Test func boundsBytesOfRepeatedEvents() {
        var machine = Machine.connected { $0.pageBytes = 500 }
        _ = machine.fetch(1, Filter(kinds: [1]))
        for _ in 1...5 { #expect(machine.receive(event(1), on: "1") == []) }
        #expect(machine.receive(event(1), on: "1").last == .resolveFetch(1, .failed("the response is too large")))
    }

    /// An ended request does not stop a relay from sending.
    @Test(arguments: ["closed", "unrequested", "repeated"])
    func dropsRelayThatFloodsUnrequestedEvents(_ what: String) {
        var machine = Machine.connected { $0.surplusBytes = 500 }
        _ = machine.subscribe("s", Filter(kinds: [7]))
        _ = machine.fetch(1, Filter(kinds: [1]))
        if what == "closed" { _ = machine.receive(.endOfStoredEvents(subscription: "2")) }
        _ = machine.receive(event(1), on: "2")
        let (sent, wireID) = (event(1), what == "unrequested" ? "1" : "2")
        // Events sent before a ping do not count after it.
        for _ in 1...3 { _ = machine.receive(sent, on: wireID) }
        _ = beat(&machine)
        for _ in 1...5 {
            #expect(!machine.receive(sent, on: wireID).contains(.disconnect(session: 1, handshake: false)))
        }
        #expect(machine.receive(sent, on: wireID).last == .disconnect(session: 1, handshake: false))
        guard case .lost(let end) = machine.lose(.goodbye).first else {
            Issue.record("expected the connection to be lost")
            return
        }
        #expect(end.reason == .flooded)
    }

    @Test func eventsOfAnotherPageAreNotSurplus() {
        var machine = Machine.connected { $0.surplusBytes = 500 }
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for number in 1...3 { _ = machine.receive(event(number), on: "1") }
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        // New events arrive while an older page is read.
        for number in 10...30 {
            #expect(machine.receive(event(number), on: "1") == [Machine.event("s", event(number))])
        }
        #expect(machine.machine.surplus == 0)
    }
}
