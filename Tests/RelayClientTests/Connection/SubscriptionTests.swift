import Nostr
import PikaCore
import Testing

@testable import RelayClient

struct SubscriptionTests {
    private func event(_ content: String, at createdAt: UnixTime) -> Event {
        Author.alice.event(content, at: createdAt)
    }

    @Test func requestsDeliversAndEnds() {
        var machine = Machine.connected()
        #expect(machine.subscribe("s", Filter(kinds: [1])) == [Machine.request("1", Filter(kinds: [1]))])
        let stored = event("stored", at: 10)
        #expect(machine.receive(stored, on: "1") == [Machine.event("s", stored)])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [Machine.end("s")])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [])
        let live = event("live", at: 11)
        #expect(machine.receive(live, on: "1") == [Machine.event("s", live)])
        #expect(machine.machine.unsubscribe("s") == [Machine.close("1")])
        #expect(machine.machine.unsubscribe("s") == [])
    }

    /// A machine with a subscription that omits echoes, whose stored events have arrived.
    private func machineOmittingEchoes() -> Machine {
        var machine = Machine.connected()
        let request = RelaySubscription(id: "s", filters: [Filter(kinds: [1])], overlap: 0, omitsEchoes: true)
        _ = machine.machine.subscribe(request, now: machine.now)
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        return machine
    }

    @Test func echoAnswersItsPublication() {
        var machine = machineOmittingEchoes()
        let own = event("own", at: 11)
        _ = machine.publish(1, own)
        #expect(machine.receive(own, on: "1") == [.resolvePublish(1, .accepted)])
        #expect(machine.receive(.ok(own.id, accepted: true, message: "")) == [])
        // A repetition is delivered like any event.
        #expect(machine.receive(own, on: "1") == [Machine.event("s", own)])
    }

    @Test func echoAfterAnswerIsOmitted() {
        var machine = machineOmittingEchoes()
        let (own, refused) = (event("own", at: 11), event("refused", at: 12))
        _ = machine.publish(1, own)
        _ = machine.receive(.ok(own.id, accepted: true, message: ""))
        #expect(machine.receive(own, on: "1") == [])
        _ = machine.publish(2, refused)
        _ = machine.receive(.ok(refused.id, accepted: false, message: "blocked: no"))
        #expect(machine.receive(refused, on: "1") == [Machine.event("s", refused)])
        let other = event("other", at: 13)
        #expect(machine.receive(other, on: "1") == [Machine.event("s", other)])
    }

    @Test func storedAndUnaskedEchoesAreDelivered() {
        var machine = machineOmittingEchoes()
        let own = event("own", at: 11)
        _ = machine.publish(1, own)
        _ = machine.receive(.ok(own.id, accepted: true, message: ""))
        _ = machine.reconnect()
        #expect(machine.receive(own, on: "2") == [Machine.event("s", own)])
        var plain = Machine.connected()
        _ = plain.subscribe("s", Filter(kinds: [1]))
        _ = plain.receive(.endOfStoredEvents(subscription: "1"))
        _ = plain.publish(1, own)
        #expect(plain.receive(own, on: "1") == [Machine.event("s", own)])
    }

    @Test func requestsOnConnect() {
        var machine = Machine()
        #expect(machine.subscribe("b", Filter(kinds: [2])) == [])
        #expect(machine.subscribe("a", Filter(kinds: [1])) == [])
        _ = machine.machine.setStanding(true)
        #expect(
            machine.connect().suffix(2) == [
                Machine.request("1", Filter(kinds: [1])), Machine.request("2", Filter(kinds: [2])),
            ])
    }

    @Test func requestsNothingWithoutFilters() {
        var machine = Machine.connected()
        #expect(machine.subscribe("s") == [])
        #expect(machine.machine.subscriptions.isEmpty)
    }

    @Test func refusesUnrequestedEvents() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [7]))
        #expect(machine.receive(event("wrong kind", at: 1), on: "1") == [Machine.unrequested])
        #expect(machine.receive(event("never opened", at: 1), on: "2") == [Machine.unrequested])
        #expect(machine.receive(event("unassigned id", at: 1), on: "01") == [Machine.unrequested])
        #expect(machine.receive(event("the core's name", at: 1), on: "s") == [Machine.unrequested])
    }

    @Test func ignoresLateAnswersToEndedRequest() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(machine.subscribe("s", Filter(kinds: [2])) == [Machine.request("2", Filter(kinds: [2]))])
        #expect(machine.receive(event("late", at: 1), on: "1") == [])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [])
        #expect(machine.receive(.closed(subscription: "1", message: "")) == [])
        #expect(machine.receive(.endOfStoredEvents(subscription: "2")) == [Machine.end("s")])
    }

    // MARK: Replacement

    @Test func replacedRequestStaysOpenUntilEOSE() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1], limit: 1))
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(
            machine.subscribe("s", Filter(kinds: [1], limit: 1)) == [Machine.request("2", Filter(kinds: [1], limit: 1))]
        )
        // The new request returns only the newest of the events that the relay stored meanwhile.
        let (older, newer) = (event("older", at: 5), event("newer", at: 6))
        #expect(machine.receive(older, on: "1") == [Machine.event("s", older)])
        #expect(machine.receive(newer, on: "2") == [Machine.event("s", newer)])
        #expect(machine.receive(.endOfStoredEvents(subscription: "2")) == [Machine.close("1"), Machine.end("s")])
        let late = event("late", at: 7)
        #expect(machine.receive(late, on: "1") == [Machine.event("s", late)])
        #expect(machine.machine.unsubscribe("s") == [Machine.close("2")])
        #expect(machine.receive(late, on: "1") == [])
        #expect(machine.machine.routes.isEmpty)
    }

    @Test func unsubscribeClosesReplacedRequests() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.subscribe("s", Filter(kinds: [1, 2]))
        #expect(machine.machine.unsubscribe("s") == [Machine.close("1"), Machine.close("2")])
        #expect(machine.machine.routes.isEmpty)
    }

    @Test func replacedRequestsAreBounded() {
        var machine = Machine.connected()
        let maximum = ReplacedRequests.maximum
        for _ in 0...maximum { _ = machine.subscribe("s", Filter(kinds: [1])) }
        // The oldest stays open: it receives events that no newer one may receive yet.
        for surplus in 2...20 {
            #expect(
                machine.subscribe("s", Filter(kinds: [1]))
                    == [Machine.request("\(surplus + maximum)", Filter(kinds: [1])), Machine.close("\(surplus)")])
            #expect(machine.machine.routes.count <= 2 * maximum + 1)
        }
        let late = event("late", at: 1)
        #expect(machine.receive(late, on: "1") == [Machine.event("s", late)])
        #expect(machine.receive(late, on: "20") == [Machine.event("s", late)])
        #expect(machine.receive(late, on: "2") == [])
    }

    @Test func replacedRequestClosesOlderOnesAtEOSE() {
        var machine = Machine.connected()
        for _ in 1...4 { _ = machine.subscribe("s", Filter(kinds: [1])) }
        #expect(machine.receive(.endOfStoredEvents(subscription: "3")) == [Machine.close("1"), Machine.close("2")])
        #expect(machine.receive(.endOfStoredEvents(subscription: "2")) == [])
        #expect(machine.receive(.endOfStoredEvents(subscription: "4")) == [Machine.close("3"), Machine.end("s")])
        #expect(machine.receive(.endOfStoredEvents(subscription: "3")) == [])
    }

    @Test func relayAtItsLimitGetsTheRequestAgain() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.subscribe("s", Filter(kinds: [1, 2]))
        #expect(
            machine.receive(.closed(subscription: "2", message: "error: too many subscriptions"))
                == [Machine.close("1"), Machine.request("3", Filter(kinds: [1, 2]))])
        #expect(
            machine.receive(.closed(subscription: "3", message: "error: too many subscriptions"))
                == [closed("s", "error: too many subscriptions")])
    }

    @Test func replacedRequestClosedByRelayIsForgotten() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(machine.receive(.closed(subscription: "1", message: "error: x")) == [])
        #expect(machine.receive(.endOfStoredEvents(subscription: "2")) == [Machine.end("s")])
    }

    @Test func reconnectForgetsReplacedRequests() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1])))
        #expect(machine.receive(.endOfStoredEvents(subscription: "3")) == [Machine.end("s")])
    }

    // MARK: Position

    @Test func resumesFromNewestEventMinusOverlap() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]), overlap: 100)
        _ = machine.receive(event("a", at: 5_000), on: "1")
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(machine.reconnect().last == Machine.request("2", Filter(kinds: [1], since: 4_900)))
        _ = machine.receive(.endOfStoredEvents(subscription: "2"))
        _ = machine.receive(event("b", at: 6_000), on: "2")
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1], since: 5_900)))
    }

    @Test func laterSinceOfFilterWins() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1], since: 4_950), Filter(kinds: [1]), overlap: 100)
        _ = machine.receive(event("a", at: 5_000), on: "1")
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(
            machine.reconnect().last
                == Machine.request("2", Filter(kinds: [1], since: 4_950), Filter(kinds: [1], since: 4_900)))
    }

    /// Relays send the newest events first, so the older ones were still missing.
    @Test func disconnectBeforeEOSERestartsThePage() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.receive(event("newest", at: 5_000), on: "1")
        #expect(machine.reconnect().last == Machine.request("2", Filter(kinds: [1])))
    }

    @Test func catchUpRestartsFromTheOldPosition() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.receive(event("a", at: 5_000), on: "1")
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        _ = machine.reconnect()
        _ = machine.receive(event("b", at: 7_000), on: "2")
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1], since: 5_000)))
    }

    @Test func futureEventDoesNotAdvanceThePosition() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]), overlap: 10)
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        _ = machine.receive(event("2100", at: 4_102_444_800), on: "1")
        #expect(
            machine.reconnect().last
                == Machine.request("2", Filter(kinds: [1], since: machine.now.unixTime - 10)))
    }

    @Test func hostileOverlapAndTimesDoNotOverflow() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]), overlap: .max)
        _ = machine.subscribe("t", Filter(kinds: [1]), overlap: .min)
        for wire in ["1", "2"] {
            _ = machine.receive(event("x", at: 0), on: wire)
            _ = machine.receive(.endOfStoredEvents(subscription: wire))
        }
        #expect(
            machine.reconnect().suffix(2) == [
                Machine.request("3", Filter(kinds: [1], since: 0)),
                Machine.request("4", Filter(kinds: [1], since: 0)),
            ])
    }

    @Test func limitAppliesOnlyToTheFirstRequest() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1], limit: 0), overlap: 5)
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(
            machine.reconnect().last
                == Machine.request("2", Filter(kinds: [1], since: machine.now.unixTime - 5)))
    }

    @Test func replacedSubscriptionRestarts() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.receive(event("a", at: 5_000), on: "1")
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(machine.subscribe("s", Filter(kinds: [1])).last == Machine.request("2", Filter(kinds: [1])))
    }

    // MARK: Truncated answers

    @Test func truncatedAnswerIsPaged() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for time in [9, 8, 7] as [UnixTime] { _ = machine.receive(event("\(time)", at: time), on: "1") }
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "1"))
                == [Machine.request("2", Filter(kinds: [1], until: 7))])
        let live = event("live", at: 20)
        #expect(machine.receive(live, on: "1") == [Machine.event("s", live)])
        let old = event("old", at: 3)
        #expect(machine.receive(old, on: "2") == [Machine.event("s", old)])
        #expect(machine.receive(.endOfStoredEvents(subscription: "1")) == [])
        #expect(
            machine.receive(.endOfStoredEvents(subscription: "2")) == [Machine.close("2"), Machine.end("s")])
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1], since: 20)))
    }

    @Test func unsubscribeEndsThePageToo() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for time in [9, 8, 7] as [UnixTime] { _ = machine.receive(event("\(time)", at: time), on: "1") }
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(machine.machine.unsubscribe("s") == [Machine.close("1"), Machine.close("2")])
        #expect(machine.machine.routes.isEmpty)
    }

    // MARK: Ended by the relay

    private func closed(_ id: String, _ message: String) -> RelayConnection.StateMachine.Action {
        .emit(.closed(relay: Machine.relay, subscription: id, message: message))
    }

    @Test func resubscribesAfterClosedAndReconnect() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(
            machine.receive(.closed(subscription: "1", message: "error: busy")) == [closed("s", "error: busy")])
        #expect(machine.receive(event("late", at: 1), on: "1") == [])
        #expect(machine.reconnect().last == Machine.request("2", Filter(kinds: [1])))
    }

    @Test func closedPageEndsTheSubscription() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        for time in [9, 8, 7] as [UnixTime] { _ = machine.receive(event("\(time)", at: time), on: "1") }
        _ = machine.receive(.endOfStoredEvents(subscription: "1"))
        #expect(
            machine.receive(.closed(subscription: "2", message: "error: x"))
                == [Machine.close("1"), closed("s", "error: x")])
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1])))
    }

    @Test func resubscribesAfterLogin() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.receive(.authentication(challenge: "c"))
        #expect(
            machine.receive(.closed(subscription: "1", message: "auth-required: x"))
                == [closed("s", "auth-required: x")])
        let login = Author.alice.login("c", at: Machine.relay)
        _ = machine.machine.signed(login, challenge: "c", session: 1)
        #expect(
            machine.receive(.ok(login.id, accepted: true, message: ""))
                == [Machine.request("2", Filter(kinds: [1]))])
        // Still insufficient: only another connection helps.
        #expect(
            machine.receive(.closed(subscription: "2", message: "auth-required: x"))
                == [closed("s", "auth-required: x")])
        #expect(machine.reconnect().last == Machine.request("3", Filter(kinds: [1])))
    }

    @Test func resubscribesIfClosedCrossesLogin() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.subscribe("s", Filter(kinds: [1]))
        _ = machine.receive(.authentication(challenge: "c"))
        let login = Author.alice.login("c", at: Machine.relay)
        _ = machine.machine.signed(login, challenge: "c", session: 1)
        #expect(machine.receive(.ok(login.id, accepted: true, message: "")) == [])
        #expect(
            machine.receive(.closed(subscription: "1", message: "auth-required: x"))
                == [closed("s", "auth-required: x"), Machine.request("2", Filter(kinds: [1]))])
    }
}
