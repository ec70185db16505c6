import LiveTesting
import PikaCore
import Testing

@testable import RelayClient

struct ReconnectionTests {
    private var generator = SplitMix64(seed: 3)
    private var reconnection = Reconnection(TransportConfiguration())

    /// The delay after a connection of five seconds, or after a failed attempt.
    private mutating func fail(
        answered: Bool = false, connected: Bool = false, isFlood: Bool = false, hasEvents: Bool = false, at seconds: Int
    ) -> Duration {
        if answered { reconnection.answered() }
        return reconnection.failed(
            connectedAt: connected || answered ? .seconds(seconds - 5) : nil, isFlood: isFlood, hasEvents: hasEvents,
            now: .seconds(seconds), using: &generator)
    }

    @Test mutating func answerResetsTheBackoff() {
        for second in 1...6 { _ = fail(at: second) }
        #expect(reconnection.failures == 6)
        #expect(fail(answered: true, at: 10) <= .seconds(1))
        #expect(reconnection.failures == 1)
    }

    @Test mutating func connectionWithoutAnswerResetsNothing() {
        for second in 1...6 { _ = fail(connected: true, at: second) }
        #expect(reconnection.failures == 6)
        #expect(fail(connected: true, at: 7) >= .seconds(32))
    }

    @Test mutating func provenRelayWaitsThirtySecondsAtMost() {
        _ = fail(answered: true, at: 10)
        for second in 11...40 { #expect(fail(at: second) <= .seconds(30)) }
    }

    @Test mutating func relayIsProvenForOneHour() {
        _ = fail(answered: true, at: 10)
        for second in 11...40 { _ = fail(at: second) }
        #expect(fail(at: 3_610) <= .seconds(30))
        #expect(fail(at: 3_611) >= .seconds(60))
    }

    @Test mutating func unprovenRelayWaitsTwoMinutesAtMost() {
        let waits = (1...40).map { fail(at: $0) }
        #expect(waits.allSatisfy { $0 <= .seconds(120) })
        #expect(waits.suffix(20).allSatisfy { $0 >= .seconds(60) })
    }

    /// Otherwise a relay that accepts and disconnects keeps its clients connecting every second.
    @Test mutating func resetsAreLimitedPerPeriod() {
        for second in 10..<20 { #expect(fail(answered: true, at: second) <= .seconds(1)) }
        var last = Duration.zero
        for second in 20..<40 { last = fail(answered: true, at: second) }
        #expect(last >= .seconds(15) && last <= .seconds(30))
        #expect(fail(answered: true, at: 640) <= .seconds(1))
    }

    @Test mutating func waitingEventShortensTheWait() {
        for second in 1...20 { _ = fail(at: second) }
        #expect(fail(hasEvents: true, at: 30) <= .seconds(2))
    }

    @Test mutating func newEventMovesTheAttemptForward() {
        for second in 1...20 { _ = fail(at: second) }
        // Attempts stay one second apart.
        #expect(reconnection.advanceAttempt(now: .seconds(20.25)) == .seconds(0.75))
        #expect(reconnection.advanceAttempt(now: .seconds(20.5)) == nil)
        _ = fail(at: 30)
        #expect(reconnection.advanceAttempt(now: .seconds(40)) == .zero)
    }

    @Test mutating func floodingRelayIsLeftForLonger() {
        #expect(fail(answered: true, isFlood: true, at: 10) >= .seconds(16))
        #expect(fail(answered: true, isFlood: true, hasEvents: true, at: 20) >= .seconds(60))
        #expect(reconnection.failures == 12)
    }
}
