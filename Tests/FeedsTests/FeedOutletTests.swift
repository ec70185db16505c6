import BotTesting
import LiveTesting
import PikaCore
import Testing

@testable import FeedRules
@testable import Feeds

@Suite(.bounded)
struct FeedOutletTests {
    private let directory = FeedPlan.Source.directory(DirectorySettings(path: "/nowhere"))

    @Test func countsStoredItemsAndDuplicates() async throws {
        let bench = FeedBench(directory, sink: FakeSink(), clock: ManualClock())
        for id in ["1", "1", "2"] {
            let result = try await bench.outlet.deliver(bench.outlet.item(id: id, [1]))
            #expect(result == .stored)
        }
        #expect(bench.status.stored == 2 && bench.status.duplicates == 1 && bench.status.errors == 0)
        #expect(bench.status.lastItemAt != nil)
    }

    @Test func dropsOversizedItems() async throws {
        let bench = FeedBench(directory, sink: FakeSink(.refused), clock: ManualClock())
        let large = bench.outlet.item(id: "1", [UInt8](repeating: 1, count: 65))
        for item in [large, bench.outlet.item(id: "2", [1])] {
            let result = try await bench.outlet.deliver(item)
            #expect(result == .dropped)
        }
        #expect(bench.status.errors == 2 && bench.sink.items.isEmpty)
    }

    /// A source is not read while the inbox is full.
    @Test func waitsForRoom() async throws {
        let clock = ManualClock()
        let bench = FeedBench(directory, sink: FakeSink(.full, .full), clock: clock)
        try await withThrowingTaskGroup(of: FeedOutlet.Result.self) { group in
            group.addTask { try await bench.outlet.deliver(bench.outlet.item(id: "1", [1])) }
            for _ in 0..<2 {
                await letOthersRun(until: { clock.sleeperCount == 1 })
                #expect(bench.sink.items.isEmpty)
                clock.advance(by: .seconds(5))
            }
            let result = try await group.next()
            #expect(result == .stored)
        }
        #expect(bench.status.errors == 1, "waiting counts once")
    }

    @Test func endsWithTheCore() async {
        let bench = FeedBench(directory, sink: FakeSink(.closed), clock: ManualClock())
        await #expect(throws: CancellationError.self) {
            try await bench.outlet.deliver(bench.outlet.item(id: "1", [1]))
        }
    }

    @Test func deadlineEndsWork() async throws {
        let clock = ManualClock()
        await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                try await clock.within(milliseconds: 1_000) { try await clock.sleep(milliseconds: 5_000) }
            }
            await letOthersRun(until: { clock.sleeperCount == 2 })
            clock.advance(by: .seconds(1))
            do {
                try await group.next()
                Issue.record("expected the deadline to end the work")
            } catch {
                #expect((error as? FeedError)?.code == .unreachable)
            }
        }
    }
}
