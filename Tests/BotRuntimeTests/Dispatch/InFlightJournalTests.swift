import BotKit
import LiveTesting
import Synchronization
import Testing

@testable import BotDispatch

/// A journal storage shared by several runs.
private final class Page: InFlightStorage {
    private let bytes: Mutex<[UInt8]?>

    init(_ text: String? = nil) {
        bytes = Mutex(text.map { Array($0.utf8) })
    }

    func read() -> [UInt8]? { bytes.withLock { $0 } }
    func write(_ bytes: [UInt8]) { self.bytes.withLock { $0 = bytes } }
}

/// Waits for an external result, like an external bot.
private struct WaitingBot: SelfTimingBot {
    static let name = "waiting"
    let arrived: Gate
    let room: Gate
    /// The received events.
    let messages: AsyncStream<String>
    private let nextMessage: AsyncStream<String>.Continuation

    init(settings: BotSettings) {
        (arrived, room) = (Gate(), Gate())
        (messages, nextMessage) = AsyncStream.makeStream()
    }

    var handlers: [Handler] {
        OnMessage { message, _ in
            arrived.open()
            nextMessage.yield(message.content)
            await room.passed()
        }
    }
}

@Suite(.bounded)
struct InFlightJournalTests {
    private let page = Page()
    private let a = BotJob.event(arrived("", 1))
    private let b = BotJob.event(arrived("", 2))

    /// Starts a process; the previous one has crashed unless it was settled.
    private func process() -> InFlightJobs {
        let process = InFlightJobs(storage: page)
        process.recover()
        return process
    }

    @Test func recordsJobsInFlightAtThreeCrashes() {
        let first = process()
        for job in [a, b] { first.begin(job) }
        let second = process()
        #expect([a, b].map(second.deaths) == [1, 1])
        #expect([a, b].allSatisfy(second.isSuspect))
        second.begin(a)
        second.end(a, isDone: true)
        second.begin(b)
        let third = process()
        #expect([a, b].map(third.deaths) == [0, 2])
        #expect([a, b].map(third.isSuspect) == [false, true])
        // Nothing is lost when the process crashes for another reason.
        #expect([a, b].map(process().deaths) == [0, 2])
        process().begin(b)
        let last = process()
        #expect(last.deaths(of: b) == 3)
        #expect(!last.isSuspect(b))
    }

    @Test func countsOnlyCrashes() {
        let first = process()
        first.begin(a)
        let second = process()
        for job in [a, b] { second.begin(job) }
        second.close()
        second.begin(BotJob.event(arrived("", 3)))
        let third = process()
        #expect([a, b].map(third.deaths) == [1, 0])
        for job in [a, b] { third.begin(job) }
        for job in [a, b] { third.end(job, isDone: false) }
        #expect([a, b].map(process().deaths) == [1, 0])
    }

    @Test func programQueuesAreNotInFlight() async throws {
        let bot = WaitingBot(settings: .null)
        let stage = Stage([InstalledBot(bot, label: "bot0")], page: page)
        await stage.run { stage in
            stage.core.deliver(arrived("hello", 1))
            await bot.arrived.passed()
            #expect(page.read() == [])
            bot.room.open()
            _ = await stage.core.completed(1)
        }
    }

    @Test func stalledProgramDoesNotBlockSuspects() async {
        let suspect = arrived("2", 2, chat: "b")
        let page = Page("\(String(BotJob.event(suspect).journalKey, radix: 16)) 0 1\n")
        let bot = WaitingBot(settings: .null)
        let stage = Stage([InstalledBot(bot, label: "bot0")], page: page)
        await stage.run { stage in
            stage.core.deliver(arrived("1", 1, chat: "a"), suspect, arrived("3", 3, chat: "c"))
            var arrivals = bot.messages.makeAsyncIterator()
            for text in ["1", "2", "3"] { #expect(await arrivals.next() == text) }
            bot.room.open()
            #expect(await stage.core.completed(3).map(\.inboxID).sorted() == [1, 2, 3])
        }
    }

    @Test func droppedJobsBlockNothing() async {
        let deadly = arrived("", 1)
        let page = Page("\(String(BotJob.event(deadly).journalKey, radix: 16)) 2 1\n")
        let stage = Stage([], page: page)
        await stage.run { stage in
            stage.core.deliver(deadly)
            #expect(await stage.core.completed(1).map(\.effects) == [[HeldEvents.effect(deadly, [])]])
        }
    }

    @Test func forgetsFinishedJobs() {
        let first = process()
        for number in 0..<1_000 {
            let job = BotJob.event(arrived("", Int64(number)))
            first.begin(job)
            first.end(job, isDone: true)
        }
        #expect(page.read() == [])
    }

    @Test func journalFitsAllJobs() {
        var current = process()
        for number in 0..<200 {
            current.begin(.event(arrived("", Int64(number))))
            if number % 20 == 19 { current = process() }
        }
        #expect(page.read()?.count ?? .max <= 2_000)
        #expect(current.deaths(of: .event(arrived("", 199))) == 1)
    }

    private static let strange = [
        "\u{0}\u{1}", "zz 1 1\n1 x 1\n1 3 1\n1 -1 1\n1 1", "1 1 1 1\n\n\n  \n",
        String(repeating: "1 1 1\n", count: 700),
    ]

    @Test(arguments: strange.indices)
    func ignoresForeignJournal(index: Int) {
        let process = InFlightJobs(storage: Page(Self.strange[index]))
        process.recover()
        #expect(process.deaths(of: a) == 0)
    }

    @Test func distinguishesJobs() {
        let run = TimerRun(name: "n", chatID: "c", key: "k", text: "", dueMilliseconds: 1)
        let later = TimerRun(name: "n", chatID: "c", key: "k", text: "", dueMilliseconds: 2)
        let schedule = ScheduleRun(name: "n", dueMilliseconds: 1, isCatchUp: false)
        let jobs: [BotJob] = [
            a, b, .timer(bot: "x", run), .timer(bot: "y", run), .timer(bot: "x", later),
            .schedule(ScheduleID(bot: "x", name: "n"), schedule), .schedule(ScheduleID(bot: "x", name: "m"), schedule),
        ]
        #expect(Set(jobs.map(\.journalKey)).count == jobs.count)
        // Compared across processes, so the hash must not be seeded.
        #expect(BotJob.schedule(ScheduleID(bot: "x", name: "n"), schedule).journalKey == 0x0d29_bf74_56b7_a3e6)
    }
}
