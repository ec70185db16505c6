import BotTesting
import LiveTesting
import PikaCore
import RelayClient
import Synchronization
import Testing

@testable import FeedRules
@testable import Feeds

@Suite(.bounded)
struct FeedSupervisionTests {
    /// A source that fails as told, then runs until it is cancelled.
    private final class Source: Sendable {
        private let state: Mutex<(failures: [any Error], starts: Int)>

        init(_ failures: [any Error]) {
            state = Mutex((failures, 0))
        }

        var starts: Int { state.withLock { $0.starts } }

        func run(_ clock: ManualClock) async throws {
            let failure = state.withLock { state -> (any Error)? in
                state.starts += 1
                return state.failures.isEmpty ? nil : state.failures.removeFirst()
            }
            if let failure { throw failure }
            try await clock.sleep(untilMonotonicMilliseconds: .max)
        }
    }

    private func supervision(_ bench: FeedBench, _ clock: ManualClock) -> FeedSupervision {
        FeedSupervision(
            monitor: bench.monitor, clock: clock, backoff: Backoff(base: .seconds(8), cap: .seconds(16)),
            generator: SharedGenerator(SplitMix64(seed: 4)), logger: silentLogger)
    }

    private func bench(_ clock: ManualClock) -> FeedBench {
        FeedBench(.directory(DirectorySettings(path: "/nowhere")), sink: FakeSink(), clock: clock)
    }

    /// Runs a source and advances the clock until it has started `starts` times; returns the waits in milliseconds.
    private func waits(of source: Source, starts: Int, _ bench: FeedBench, _ clock: ManualClock) async -> [Int64] {
        let supervision = supervision(bench, clock)
        var waits: [Int64] = []
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await supervision.run(["orders"]) { try await source.run(clock) } }
            for number in 1..<starts {
                await letOthersRun(until: { source.starts == number && clock.sleeperCount == 1 })
                #expect(bench.status.state == .retrying && bench.status.failures == number)
                guard let next = clock.nextDeadline else { break }
                waits.append(next - clock.nowMilliseconds)
                clock.advance(toMilliseconds: next)
            }
            await letOthersRun(until: { source.starts == starts && clock.sleeperCount == 1 })
            group.cancelAll()
        }
        return waits
    }

    @Test func backsOffExponentially() async {
        let clock = ManualClock()
        let bench = bench(clock)
        let failures: [any Error] = Array(repeating: FeedError(.unreachable, "gone"), count: 4)
        let waits = await waits(of: Source(failures), starts: 5, bench, clock)
        for (wait, longest) in zip(waits, [8_000, 16_000, 16_000, 16_000] as [Int64]) {
            #expect((longest / 2...longest).contains(wait), "\(wait)")
        }
        #expect(waits.count == 4 && bench.status.errors == 4 && bench.status.state == .stopped)
    }

    @Test func waitsAsTheSourceAsks() async {
        let clock = ManualClock()
        let bench = bench(clock)
        let pause = FeedPause(FeedError(.badAnswer, "status 429"), seconds: 90)
        #expect(await waits(of: Source([pause]), starts: 2, bench, clock) == [90_000])
        #expect(FeedPause(FeedError(.badAnswer, ""), seconds: .max).milliseconds == 3_600_000)
        #expect(FeedPause(FeedError(.badAnswer, ""), seconds: -1).milliseconds == 0)
    }

    @Test func unknownErrorsAreFailuresToo() async {
        struct Surprise: Error {}
        let clock = ManualClock()
        let bench = bench(clock)
        _ = await waits(of: Source([Surprise()]), starts: 2, bench, clock)
        #expect(bench.status.errors == 1)
    }

    @Test func endsWithTheCore() async {
        let clock = ManualClock()
        let bench = bench(clock)
        let source = Source([CancellationError()])
        await supervision(bench, clock).run(["orders"]) { try await source.run(clock) }
        #expect(source.starts == 1 && bench.status.state == .stopped && bench.status.errors == 0)
    }
}
