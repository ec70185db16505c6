import LiveTesting
import Testing

@testable import PikaCore

@Suite(.live) struct MonotonicClockTests {
    @Test func monotonicClockNeverGoesBack() async throws {
        let clock = SystemClock()
        let start = clock.monotonicMilliseconds
        try await clock.sleep(untilMonotonicMilliseconds: start + 3)
        #expect(clock.monotonicMilliseconds >= start + 3)
        try await clock.sleep(untilMonotonicMilliseconds: .min)
    }
}
