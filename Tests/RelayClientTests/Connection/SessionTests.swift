import Nostr
import PikaCore
import Testing

@testable import RelayClient

/// Connecting, heartbeat, retrying and stopping.
struct SessionTests {
    private typealias Action = RelayConnection.StateMachine.Action

    @Test func connectsToStandingRelay() {
        var machine = Machine()
        #expect(machine.machine.setStanding(true) == [Machine.state(.connecting), .connect(session: 1)])
        #expect(machine.machine.setStanding(true) == [])
        #expect(
            machine.connect() == [
                Machine.state(.connected), .schedule(.heartbeat(session: 1), after: .seconds(30)),
            ])
        #expect(machine.machine.phase == .connected)
    }

    @Test func retriesFailuresWithBackoff() {
        var machine = Machine()
        _ = machine.machine.setStanding(true)
        for attempt in 1...8 {
            let actions = machine.lose(.unreachable)
            #expect(actions.count == 3)
            #expect(actions[0] == .lost(Disconnection(.unreachable, "gone")))
            #expect(actions[1] == Machine.state(.retrying(attempt: attempt, reason: "gone")))
            guard case .schedule(.retry(let session), let delay) = actions[2] else {
                Issue.record("expected a retry, found \(actions)")
                return
            }
            let most = min(Duration.seconds(1 << (attempt - 1)), machine.machine.configuration.backoff.cap)
            #expect(session == attempt && delay >= most / 2 && delay <= most)
            #expect(
                machine.machine.elapsed(.retry(session: attempt), now: machine.now)
                    == [Machine.state(.connecting), .connect(session: attempt + 1)])
        }
    }

    @Test func stableConnectionResetsFailureCount() {
        var machine = Machine.connected()
        machine.pass(.seconds(29))
        #expect(machine.lose()[1] == Machine.state(.retrying(attempt: 1, reason: "gone")))
        _ = machine.machine.elapsed(.retry(session: 1), now: machine.now)
        _ = machine.connect()
        machine.pass(.seconds(29))
        #expect(machine.lose()[1] == Machine.state(.retrying(attempt: 2, reason: "gone")))
        _ = machine.machine.elapsed(.retry(session: 2), now: machine.now)
        _ = machine.connect()
        machine.pass(.seconds(30))
        #expect(machine.lose()[1] == Machine.state(.retrying(attempt: 1, reason: "gone")))
    }

    @Test func endOfStoredEventsResetsTheBackoff() {
        var machine = Machine()
        _ = machine.machine.setStanding(true)
        _ = machine.subscribe("s", Filter(kinds: [1]))
        // Five quick restarts of the relay, each of which costs three attempts.
        for _ in 1...5 {
            for attempt in 1...3 {
                #expect(machine.lose(.unreachable)[1] == Machine.state(.retrying(attempt: attempt, reason: "gone")))
                _ = machine.machine.elapsed(.retry(session: machine.machine.session), now: machine.now)
            }
            _ = machine.connect()
            machine.pass(.seconds(2))
            _ = machine.receive(.endOfStoredEvents(subscription: String(machine.machine.nextWireID - 1)))
        }
        #expect(machine.lose()[1] == Machine.state(.retrying(attempt: 1, reason: "gone")))
    }

    @Test func newEventCutsBackoffShort() {
        var machine = Machine()
        _ = machine.machine.setStanding(true)
        for _ in 1...10 {
            _ = machine.lose(.unreachable)
            _ = machine.machine.elapsed(.retry(session: machine.machine.session), now: machine.now)
        }
        _ = machine.lose(.unreachable)
        machine.pass(.seconds(5))
        let session = machine.machine.session
        #expect(machine.publish(1, Author.alice.event()).last == .connect(session: session + 1))
        #expect(machine.machine.elapsed(.retry(session: session), now: machine.now) == [])
        // Not at once after a failure, so that a busy sender does not hammer a dead relay.
        guard case .schedule(.retry, let wait) = machine.lose(.unreachable).last else {
            Issue.record("expected a retry")
            return
        }
        #expect(wait >= .seconds(1) && wait <= .seconds(2))
        machine.pass(.seconds(0.5))
        #expect(
            machine.publish(2, Author.alice.event("b")) == [
                .schedule(.retry(session: session + 1), after: .seconds(0.5))
            ]
        )
    }

    @Test func reconnectCutsBackoffShort() {
        var machine = Machine()
        // Only a wanted relay that is waiting is retried.
        #expect(machine.machine.retryNow() == [])
        _ = machine.machine.setStanding(true)
        #expect(machine.machine.retryNow() == [])
        for attempt in 1...3 {
            #expect(machine.lose(.unreachable)[1] == Machine.state(.retrying(attempt: attempt, reason: "gone")))
            #expect(
                machine.machine.retryNow() == [Machine.state(.connecting), .connect(session: attempt + 1)])
            // The delay's timer has no effect.
            #expect(machine.machine.elapsed(.retry(session: attempt), now: machine.now) == [])
        }
        _ = machine.connect()
        #expect(machine.machine.retryNow() == [])
        #expect(machine.machine.phase == .connected)
        _ = machine.machine.stop()
        #expect(machine.machine.retryNow() == [])
    }

    @Test func ignoresEarlierSessions() {
        var machine = Machine.connected()
        _ = machine.reconnect()
        #expect(machine.machine.session == 2)
        #expect(machine.machine.connected(session: 1, now: machine.now) == [])
        #expect(machine.lose(session: 1) == [])
        #expect(machine.machine.elapsed(.heartbeat(session: 1), now: machine.now) == [])
        #expect(machine.machine.elapsed(.retry(session: 1), now: machine.now) == [])
        #expect(machine.machine.drop(session: 1, Disconnection(.stalled, "")) == [])
        #expect(machine.machine.signed(nil, challenge: "", session: 1) == [])
        #expect(machine.machine.received(.notice("x"), bytes: 1, session: 1, now: machine.now) == [])
        #expect(machine.machine.phase == .connected)
    }

    // MARK: Heartbeat

    @Test func pingsThenDropsSilentRelay() {
        var machine = Machine.connected()
        machine.pass(.seconds(30))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now) == [
                .ping, .schedule(.heartbeat(session: 1), after: .seconds(30)),
            ])
        machine.pass(.seconds(30))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now)
                == [.disconnect(session: 1, handshake: false)])
        let silent = Disconnection(.silent, "no data received for 60 s")
        #expect(machine.machine.phase == .ending(silent))
        #expect(machine.receive(.notice("too late")) == [])
        #expect(machine.lose(.goodbye).first == .lost(silent))
    }

    @Test func anyTrafficPostponesTheSilenceTimeout() {
        var machine = Machine.connected()
        machine.pass(.seconds(10))
        machine.machine.noteTraffic(now: machine.now)
        machine.pass(.seconds(50))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now) == [
                .ping, .schedule(.heartbeat(session: 1), after: .seconds(10)),
            ])
        _ = machine.receive(.notice("still here"))
        machine.pass(.seconds(10))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now) == [
                .ping, .schedule(.heartbeat(session: 1), after: .seconds(30)),
            ])
    }

    @Test func laggingConsumerDoesNotTripSilenceTimeout() {
        var machine = Machine.connected()
        machine.machine.readingHeld()
        machine.pass(.seconds(300))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now) == [
                .ping, .schedule(.heartbeat(session: 1), after: .seconds(30)),
            ])
        machine.machine.readingResumed(now: machine.now)
        machine.pass(.seconds(60))
        #expect(
            machine.machine.elapsed(.heartbeat(session: 1), now: machine.now)
                == [.disconnect(session: 1, handshake: false)])
    }

    // MARK: Shutdown

    @Test func stopClosesTheSession() {
        var machine = Machine.connected()
        let event = Author.alice.event()
        _ = machine.publish(1, event)
        _ = machine.fetch(2, Filter(kinds: [1]))
        #expect(
            machine.machine.stop() == [
                .resolvePublish(1, .unreachable("timed out waiting for a response")),
                .resolveFetch(2, .failed("the connection was shut down")),
                .disconnect(session: 1, handshake: true),
            ])
        #expect(machine.machine.stop() == [])
        #expect(machine.publish(3, event) == [.resolvePublish(3, .unreachable("the connection was shut down"))])
        #expect(
            machine.fetch(4, Filter()) == [.resolveFetch(4, .failed("the connection was shut down"))])
        #expect(machine.machine.setStanding(false) == [])
        #expect(machine.lose() == [Machine.state(.disconnected), .finish])
        #expect(machine.machine.phase == .finished)
        #expect(machine.lose() == [])
        #expect(machine.machine.stop() == [])
    }

    @Test func stopWithoutSessionEndsImmediately() {
        var idle = Machine()
        #expect(idle.machine.stop() == [.finish])
        var waiting = Machine.connected()
        _ = waiting.lose()
        #expect(waiting.machine.stop() == [Machine.state(.disconnected), .finish])
        #expect(waiting.machine.elapsed(.retry(session: 1), now: waiting.now) == [])
    }

    @Test func stopsWhileConnecting() {
        var machine = Machine()
        _ = machine.machine.setStanding(true)
        #expect(machine.machine.stop() == [.disconnect(session: 1, handshake: true)])
        #expect(machine.connect() == [])
        #expect(machine.lose() == [Machine.state(.disconnected), .finish])
    }

    @Test func removedRelayBecomesIdle() {
        var machine = Machine.connected()
        _ = machine.subscribe("s", Filter(kinds: [1]))
        #expect(
            machine.machine.setStanding(false) == [
                Machine.close("1"), Machine.state(.disconnected), .becameIdle,
            ])
        #expect(machine.lose() == [.lost(Disconnection(.closed, "gone")), .becameIdle])
        #expect(machine.machine.phase == .idle)
        #expect(machine.machine.setStanding(true) == [Machine.state(.connecting), .connect(session: 2)])
    }

    @Test func readdedRelayReportsItsState() {
        var machine = Machine.connected()
        _ = machine.publish(1, Author.alice.event())
        #expect(machine.machine.setStanding(false) == [Machine.state(.disconnected)])
        #expect(machine.machine.setStanding(true) == [Machine.state(.connected)])
    }

    // MARK: Relays outside the set

    @Test func singleRequestConnectsLingersAndDisconnects() {
        var machine = Machine()
        let event = Author.alice.event()
        #expect(
            machine.publish(1, event) == [
                .schedule(.deadline(at: .seconds(10)), after: .seconds(10)), .connect(session: 1),
            ])
        #expect(
            machine.connect() == [
                .schedule(.heartbeat(session: 1), after: .seconds(30)), .send(.event(event)),
            ])
        #expect(
            machine.receive(.ok(event.id, accepted: true, message: "")) == [
                .resolvePublish(1, .accepted), .schedule(.linger(2), after: .seconds(30)),
            ])
        _ = machine.publish(2, event)
        #expect(machine.machine.elapsed(.linger(2), now: machine.now) == [])
        #expect(
            machine.receive(.ok(event.id, accepted: true, message: "")) == [
                .resolvePublish(2, .accepted), .schedule(.linger(4), after: .seconds(30)),
            ])
        #expect(machine.machine.elapsed(.linger(4), now: machine.now) == [.becameIdle])
    }

    @Test func abandonsUnreachableRelayAfterItsLastRequest() {
        var machine = Machine()
        _ = machine.publish(1, Author.alice.event())
        guard case .schedule(.retry(session: 1), _) = machine.lose(.unreachable).last else {
            Issue.record("expected a retry")
            return
        }
        machine.pass(.seconds(10))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(10)), now: machine.now) == [
                .resolvePublish(1, .unreachable("no connection: gone")), .becameIdle,
            ])
        #expect(machine.machine.elapsed(.retry(session: 1), now: machine.now) == [.becameIdle])
        #expect(machine.machine.phase == .idle)
    }

    @Test func dropsStalledRelay() {
        var machine = Machine.connected()
        let stalled = Disconnection(.stalled, "full")
        #expect(machine.machine.drop(session: 1, stalled) == [.disconnect(session: 1, handshake: false)])
        #expect(machine.machine.drop(session: 1, stalled) == [])
        #expect(machine.lose(.goodbye).first == .lost(stalled))
    }
}
