import Nostr
import PikaCore
import Testing

@testable import RelayClient

struct PublishTests {
    private let event = Author.alice.event("one")
    private let other = Author.alice.event("two")

    private func ok(_ event: Event?, _ accepted: Bool, _ message: String = "") -> RelayMessage {
        .ok(event?.id, accepted: accepted, message: message)
    }

    @Test func answersResolvePublications() {
        var machine = Machine.connected()
        #expect(
            machine.publish(1, event) == [
                .schedule(.deadline(at: .seconds(10)), after: .seconds(10)), .send(.event(event)),
            ])
        #expect(machine.publish(2, other) == [.send(.event(other))])
        #expect(
            machine.receive(ok(other, false, "blocked: no")) == [.resolvePublish(2, .refused("blocked: no"))])
        #expect(machine.receive(ok(event, true)) == [.resolvePublish(1, .accepted)])
        #expect(machine.receive(ok(event, true)) == [])
        #expect(machine.machine.publications.count == 0)
    }

    @Test func duplicateIsAccepted() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        #expect(
            machine.receive(ok(event, false, "duplicate: have it")) == [.resolvePublish(1, .accepted)])
    }

    @Test func emptyIDResolvesOldestPublication() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        _ = machine.publish(2, other)
        #expect(machine.receive(ok(nil, false, "invalid: a")) == [.resolvePublish(1, .refused("invalid: a"))])
        #expect(machine.receive(ok(nil, false, "invalid: b")) == [.resolvePublish(2, .refused("invalid: b"))])
        #expect(machine.receive(ok(nil, false, "invalid: c")) == [])
    }

    @Test func publishingTwiceResolvesTwice() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        _ = machine.publish(2, event)
        #expect(
            machine.receive(ok(event, true)) == [.resolvePublish(1, .accepted), .resolvePublish(2, .accepted)])
    }

    @Test func resendsUnansweredEventsInOrder() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        _ = machine.lose()
        #expect(machine.publish(2, other) == [])
        _ = machine.machine.elapsed(.retry(session: 1), now: machine.now)
        #expect(machine.connect().suffix(2) == [.send(.event(event)), .send(.event(other))])
        #expect(machine.receive(ok(event, true)) == [.resolvePublish(1, .accepted)])
    }

    @Test func timeoutsNameTheMissingStep() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        machine.pass(.seconds(4))
        #expect(machine.publish(2, other) == [.send(.event(other))])
        machine.pass(.seconds(6))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(10)), now: machine.now) == [
                .resolvePublish(1, .unreachable("timed out waiting for a response")),
                .schedule(.deadline(at: .seconds(14)), after: .seconds(4)),
            ])
        _ = machine.lose()
        machine.pass(.seconds(4))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(14)), now: machine.now)
                == [.resolvePublish(2, .unreachable("no connection: gone"))])
    }

    @Test func reportsNeverConnected() {
        var machine = Machine()
        _ = machine.machine.setStanding(true)
        _ = machine.publish(1, event)
        machine.pass(.seconds(10))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(10)), now: machine.now)
                == [.resolvePublish(1, .unreachable("the connection attempt timed out"))])
    }

    @Test func earlierDeadlineGetsItsOwnTimer() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        #expect(
            machine.publish(2, other, timeout: .seconds(1)) == [
                .schedule(.deadline(at: .seconds(1)), after: .seconds(1)), .send(.event(other)),
            ])
        machine.pass(.seconds(1))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(1)), now: machine.now) == [
                .resolvePublish(2, .unreachable("timed out waiting for a response")),
                .schedule(.deadline(at: .seconds(10)), after: .seconds(9)),
            ])
    }

    @Test func refusesTooManyUnansweredEvents() {
        var machine = Machine.connected { $0.unansweredEvents = 1 }
        _ = machine.publish(1, event)
        #expect(
            machine.publish(2, other)
                == [.resolvePublish(2, .unreachable("too many events are waiting for this relay"))])
    }

    // MARK: Login

    @Test func resendsAfterLogin() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.publish(1, event)
        #expect(
            machine.receive(.authentication(challenge: "c")) == [.logIn(challenge: "c", session: 1)])
        #expect(machine.receive(ok(event, false, "auth-required: who?")) == [])
        let login = Author.alice.login("c", at: Machine.relay)
        #expect(machine.machine.signed(login, challenge: "c", session: 1) == [.send(.authenticate(login))])
        #expect(machine.receive(ok(login, true)) == [.send(.event(event))])
        #expect(machine.receive(ok(event, true)) == [.resolvePublish(1, .accepted)])
    }

    @Test func secondRefusalIsFinal() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.publish(1, event)
        _ = machine.receive(.authentication(challenge: "c"))
        let login = Author.alice.login("c", at: Machine.relay)
        _ = machine.machine.signed(login, challenge: "c", session: 1)
        #expect(machine.receive(ok(login, true)) == [])
        #expect(machine.receive(ok(event, false, "auth-required: x")) == [.send(.event(event))])
        #expect(
            machine.receive(ok(event, false, "auth-required: y"))
                == [.resolvePublish(1, .refused("auth-required: y"))])
    }

    @Test func refusesLoginWithoutSigner() {
        var machine = Machine.connected()
        _ = machine.publish(1, event)
        #expect(machine.receive(.authentication(challenge: "c")) == [])
        #expect(
            machine.receive(ok(event, false, "auth-required: x"))
                == [.resolvePublish(1, .refused("auth-required: x"))])
    }

    @Test func failedLoginRefusesThePublication() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.publish(1, event)
        _ = machine.receive(ok(event, false, "auth-required: x"))
        _ = machine.receive(.authentication(challenge: "c"))
        let login = Author.alice.login("c", at: Machine.relay)
        _ = machine.machine.signed(login, challenge: "c", session: 1)
        #expect(
            machine.receive(ok(login, false, "restricted: you"))
                == [.resolvePublish(1, .refused("auth-required: x"))])
    }

    @Test func decliningSignerRefusesThePublication() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.publish(1, event)
        _ = machine.receive(ok(event, false, "auth-required: x"))
        _ = machine.receive(.authentication(challenge: "c"))
        #expect(
            machine.machine.signed(nil, challenge: "c", session: 1)
                == [.resolvePublish(1, .refused("auth-required: x"))])
    }

    @Test func missingLoginTimesOutAsRefused() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.publish(1, event)
        _ = machine.receive(ok(event, false, "auth-required: x"))
        machine.pass(.seconds(10))
        #expect(
            machine.machine.elapsed(.deadline(at: .seconds(10)), now: machine.now)
                == [.resolvePublish(1, .refused("auth-required: x"))])
    }

    @Test func boundsSignedChallenges() {
        var machine = Machine.connected(canLogIn: true)
        #expect(machine.receive(.authentication(challenge: "")) == [])
        #expect(machine.receive(.authentication(challenge: String(repeating: "x", count: 1_025))) == [])
        var signed = 0
        for number in 0..<20 {
            signed += machine.receive(.authentication(challenge: "c\(number)")).count
            #expect(machine.receive(.authentication(challenge: "c\(number)")) == [])
        }
        #expect(signed == Login.maximumAttempts)
    }

    @Test func dropsSignatureForOldChallenge() {
        var machine = Machine.connected(canLogIn: true)
        _ = machine.receive(.authentication(challenge: "old"))
        _ = machine.receive(.authentication(challenge: "new"))
        let old = Author.alice.login("old", at: Machine.relay)
        let new = Author.alice.login("new", at: Machine.relay)
        #expect(machine.machine.signed(old, challenge: "old", session: 1) == [])
        #expect(machine.machine.signed(new, challenge: "new", session: 1) == [.send(.authenticate(new))])
    }
}
