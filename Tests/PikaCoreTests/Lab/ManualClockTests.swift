import BotTesting
import LiveTesting
import PikaCore
import Synchronization
import Testing

@Suite(.bounded) struct ManualClockTests {
    @Test func pastDeadlineNeedsNoSleep() async throws {
        let clock = ManualClock(milliseconds: 1000)
        try await clock.sleep(untilMilliseconds: 1000)
        #expect(clock.nowMilliseconds == 1000)
        #expect(clock.sleeperCount == 0)
    }

    @Test func sleepersWakeInDeadlineOrder() async throws {
        let clock = ManualClock(milliseconds: 0)
        let times = try await withThrowingTaskGroup(of: Int64.self) { group in
            for deadline in [Int64(30), 10, 20] {
                group.addTask {
                    try? await clock.sleep(untilMilliseconds: deadline)
                    return deadline
                }
            }
            try await eventually("three sleep") { clock.sleeperCount == 3 }
            #expect(clock.nextDeadline == 10)
            clock.advance(by: .milliseconds(9))
            #expect(clock.sleeperCount == 3)
            clock.advance(by: .milliseconds(1))
            #expect(clock.sleeperCount == 2)
            clock.advance(by: .seconds(1))
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(times == [10, 20, 30])
        #expect(clock.nowMilliseconds == 1010)
    }

    @Test func cancellationEndsSleep() async throws {
        let clock = ManualClock(milliseconds: 0)
        let task = Task { try await clock.timeline.sleep(for: .seconds(5)) }
        try await eventually("one sleeps") { clock.sleeperCount == 1 }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeperCount == 0)
        let late = Task {
            while !Task.isCancelled { await Task.yield() }
            try await clock.sleep(untilMilliseconds: 5)
        }
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test func seedRepeatsItsNumbers() {
        var generator = SeededGenerator(seed: 1_234_567)
        // SplitMix64's published numbers for this seed.
        #expect(generator.next() == 6_457_827_717_110_365_317)
        #expect(generator.next() == 3_203_168_211_198_807_973)
        var one = SeededGenerator(seed: 1, stream: "a")
        var same = SeededGenerator(seed: 1, stream: "a")
        var other = SeededGenerator(seed: 1, stream: "b")
        let first = one.next()
        #expect(first == same.next())
        #expect(first != other.next())
    }
}
