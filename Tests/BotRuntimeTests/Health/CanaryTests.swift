import Nostr
import PikaCore
import Testing

@testable import BotRuntime

struct CanaryTests {
    private let first = EventID.numbered(1)
    private let second = EventID.numbered(2)
    private let third = EventID.numbered(3)

    private func canary() -> Canary { Canary(interval: 60_000, budget: 10_000) }

    /// A canary in its first round, with an ephemeral event in flight since time 0.
    private func sending() -> Canary {
        var canary = canary()
        _ = canary.begin(now: 0)
        _ = canary.becameLive(now: 0)
        canary.sent(first, .ephemeral, now: 0)
        return canary
    }

    @Test func sendsNothingBeforeRelayListens() {
        var canary = canary()
        #expect(
            canary.begin(now: 0) == [
                .wake(.round(2), atMilliseconds: 60_000), .wake(.deadline(1), atMilliseconds: 10_000),
            ])
        #expect(
            canary.becameLive(now: 400) == [.send(.ephemeral), .wake(.secondForm(1), atMilliseconds: 5400)])
    }

    @Test func returnedCanaryIsTimedAndKeepsForm() {
        var canary = sending()
        #expect(canary.returned(second, now: 90) == [])
        #expect(canary.returned(first, now: 120) == [.finish(.returned(milliseconds: 120))])
        #expect(canary.returned(first, now: 130) == [])
        #expect(canary.elapsed(.secondForm(1), now: 5000) == [])
        #expect(canary.elapsed(.deadline(1), now: 10_000) == [])
        #expect(
            canary.elapsed(.round(2), now: 60_000) == [
                .wake(.round(3), atMilliseconds: 120_000), .wake(.deadline(2), atMilliseconds: 70_000),
                .send(.ephemeral),
            ])
    }

    @Test func silentRelayGetsOtherForm() {
        var canary = sending()
        #expect(canary.reported(first, .accepted) == [])
        #expect(canary.elapsed(.secondForm(1), now: 5000) == [.send(.stored)])
        canary.sent(second, .stored, now: 5000)
        #expect(canary.returned(second, now: 5070) == [.finish(.returned(milliseconds: 70))])
        #expect(canary.elapsed(.round(2), now: 60_000).last == .send(.stored))
    }

    @Test func refusalSwitchesFormOnce() {
        var canary = sending()
        #expect(canary.reported(first, .refused("blocked: kind")) == [.send(.stored)])
        canary.sent(second, .stored, now: 10)
        #expect(canary.elapsed(.secondForm(1), now: 5000) == [])
        #expect(canary.reported(second, .refused("blocked: you")) == [])
        #expect(
            canary.elapsed(.deadline(1), now: 10_000) == [.finish(.failed(.refused, detail: "blocked: you"))])
    }

    @Test func silenceFailsAndRetriesBothForms() {
        var canary = sending()
        _ = canary.elapsed(.secondForm(1), now: 5000)
        canary.sent(second, .stored, now: 5000)
        guard case .finish(.failed(.silent, _)) = canary.elapsed(.deadline(1), now: 10_000).first else {
            Issue.record("expected a failure")
            return
        }
        let actions = canary.elapsed(.round(2), now: 60_000)
        #expect(Array(actions.suffix(2)) == [.send(.ephemeral), .wake(.secondForm(2), atMilliseconds: 65_000)])
    }

    @Test func reportsUnreachableRelay() {
        var canary = sending()
        #expect(canary.reported(first, .unreachable("no answer in time")) == [])
        #expect(
            canary.elapsed(.deadline(1), now: 10_000) == [
                .finish(.failed(.unreachable, detail: "no answer in time"))
            ])
    }

    @Test func relayThatNeverListensFails() {
        var canary = canary()
        _ = canary.begin(now: 0)
        guard case .finish(.failed(.notListening, _)) = canary.elapsed(.deadline(1), now: 10_000).first else {
            Issue.record("expected a failure")
            return
        }
    }

    @Test func closedSubscriptionReportsRelayMessage() {
        var canary = sending()
        canary.closed("error: too many")
        #expect(
            canary.elapsed(.deadline(1), now: 10_000) == [
                .finish(.failed(.notListening, detail: "error: too many"))
            ])
        #expect(
            canary.elapsed(.round(2), now: 60_000) == [
                .wake(.round(3), atMilliseconds: 120_000), .wake(.deadline(2), atMilliseconds: 70_000),
            ])
    }

    @Test func testsReconnectedRelayAtOnce() {
        var canary = sending()
        _ = canary.elapsed(.deadline(1), now: 10_000)
        #expect(
            canary.becameLive(now: 20_000) == [
                .wake(.round(3), atMilliseconds: 80_000), .wake(.deadline(2), atMilliseconds: 30_000),
                .send(.ephemeral), .wake(.secondForm(2), atMilliseconds: 25_000),
            ])
        // The pending round now follows that one.
        #expect(canary.elapsed(.round(2), now: 60_000) == [])
        canary.sent(third, .ephemeral, now: 20_000)
        #expect(canary.returned(third, now: 20_005) == [.finish(.returned(milliseconds: 5))])
        #expect(canary.becameLive(now: 30_000) == [])
    }

    @Test func resendsAfterLostConnection() {
        var canary = sending()
        #expect(canary.becameLive(now: 3000).first == .send(.ephemeral))
        canary.sent(second, .ephemeral, now: 3000)
        #expect(canary.returned(second, now: 3010) == [.finish(.returned(milliseconds: 10))])
    }
}

extension EventID {
    fileprivate static func numbered(_ number: UInt8) -> EventID {
        guard let id = try? EventID(bytes: Array(repeating: number, count: 32)) else {
            preconditionFailure("32 bytes are an id")
        }
        return id
    }
}
