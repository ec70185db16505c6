import BotKit
import Testing

@testable import BotDispatch

private let minute: Int64 = 60_000

private func bot(_ label: String = "bot", catchesUp: Bool = false, every seconds: Int64 = 60) -> InstalledBot {
    let bot = ListedBot { OnSchedule("tick", .every(.seconds(seconds)), catchesUp: catchesUp) { _ in } }
    return InstalledBot(bot, label: label)
}

struct ScheduleQueueTests {
    private let id = ScheduleID(bot: "bot", name: "tick")

    private func book(
        _ bots: [InstalledBot], mark: Int64? = nil, now: Int64
    ) -> ScheduleQueue {
        var book = ScheduleQueue()
        book.install(bots, marks: mark.map { [id: $0] } ?? [:], nowMilliseconds: now)
        return book
    }

    private func due(_ book: inout ScheduleQueue, _ now: Int64, of bots: Set<String> = ["bot"]) -> [Int64] {
        book.dequeueDue(nowMilliseconds: now, of: bots).map(\.run.dueMilliseconds)
    }

    @Test func runsOnTimeWithoutOverlap() {
        var book = book([bot()], now: 0)
        #expect(book.next == minute)
        #expect(due(&book, minute - 1).isEmpty)
        #expect(due(&book, minute) == [minute])
        #expect(book.next == nil)
        #expect(due(&book, 3 * minute).isEmpty)
        book.finish(id, nowMilliseconds: 3 * minute)
        #expect(book.next == 4 * minute)
    }

    @Test func skipsOrCatchesUpMissedRuns() {
        var plain = book([bot()], mark: minute, now: 10 * minute + 1)
        #expect(due(&plain, 10 * minute + 1).isEmpty)
        var catching = book([bot(catchesUp: true)], mark: minute, now: 10 * minute + 1)
        let found = catching.dequeueDue(nowMilliseconds: 10 * minute + 1, of: ["bot"])
        #expect(found.map(\.run) == [ScheduleRun(name: "tick", dueMilliseconds: 2 * minute, isCatchUp: true)])
        catching.finish(id, nowMilliseconds: 10 * minute + 2)
        #expect(catching.next == 11 * minute)
        // Neither a new schedule nor an up-to-date one has missed runs.
        #expect(book([bot(catchesUp: true)], now: 5).next == minute)
        #expect(book([bot(catchesUp: true)], mark: 10 * minute, now: 10 * minute + 1).next == 11 * minute)
    }

    @Test func clockSetBackRepeatsNothing() {
        var book = book([bot()], now: 9 * minute)
        #expect(due(&book, 10 * minute) == [10 * minute])
        book.finish(id, nowMilliseconds: 8 * minute)
        #expect(book.next == 11 * minute)
        #expect(self.book([bot()], mark: 10 * minute, now: 8 * minute).next == 11 * minute)
        // The clock had been a day ahead.
        #expect(self.book([bot()], mark: 1441 * minute, now: minute).next == 2 * minute)
    }

    @Test func pausedBotsKeepTheirSchedules() {
        var book = book([bot(), bot("other")], now: 0)
        #expect(due(&book, minute, of: ["other"]) == [minute])
        #expect(book.next == 2 * minute)
        #expect(due(&book, 2 * minute) == [2 * minute])
    }

    @Test func pausedBotsCountRunsAsHandled() {
        var book = book([bot(), bot("other")], now: 0)
        #expect(book.skipDue(nowMilliseconds: minute - 1, of: ["bot"]).isEmpty)
        let skipped = book.skipDue(nowMilliseconds: minute, of: ["bot"])
        #expect(skipped.map(\.id) == [id])
        #expect(skipped.map(\.mark) == [minute])
        #expect(book.dequeueDue(nowMilliseconds: minute, of: ["bot", "other"]).map(\.id.bot) == ["other"])
        #expect(book.next == 2 * minute)
        // With earlier missed runs.
        var catching = self.book([bot(catchesUp: true)], mark: minute, now: 10 * minute + 1)
        #expect(catching.skipDue(nowMilliseconds: 10 * minute + 1, of: ["bot"]).map(\.mark) == [10 * minute + 1])
        #expect(catching.next == 11 * minute)
    }

    @Test func replacesBots() {
        var book = book([bot()], now: 0)
        book.install([bot(), bot("other", every: 30)], marks: [:], nowMilliseconds: 10)
        #expect(book.next == minute / 2)
        book.install([bot(every: 7200)], marks: [id: 1], nowMilliseconds: 20)
        #expect(book.next == 120 * minute)
        book.install([], marks: [:], nowMilliseconds: 30)
        #expect(book.next == nil)
    }
}
