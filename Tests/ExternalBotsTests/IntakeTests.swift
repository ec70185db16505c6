import BotDispatch
import BotKit
import LiveTesting
import Logging
import PikaCore
import ServiceLifecycle
import Synchronization
import Testing

@testable import BotTesting
@testable import ExternalBots

/// Back-pressure when a program has no room for further events.
@Suite(.bounded) struct IntakeTests {
    private static let policy = BotPolicy(timeout: .seconds(30))

    private static func bot() -> ExternalBot {
        ExternalBot(
            label: "tested", program: ExternalBotProgram(command: ["x"], directory: "/"), policy: Self.policy)
    }

    @Test func unrecordedEventsStayInTheInbox() async throws {
        let lab = try GroupLab(seed: 1)
        let bot = Self.bot()
        let member = try await lab.bots("program", LabBots([.init(bot, label: "tested", policy: Self.policy)]))
        let bob = try await lab.member("bob")
        let chat = try await bob.create("work", inviting: [member])
        for number in 0..<5 { try await bob.say("\(number)", in: chat) }
        try await lab.advance(by: .seconds(3_600))
        #expect(member.store.inbox.count == 6, "the inbox must hold the join and the messages")
        #expect(bot.intake.count == 1, "one event of each chat must be in flight")
        let reader = Task(executorPreference: lab.executor) {
            for await event in bot.intake.events { bot.intake.complete(event.inboxID) }
        }
        try await lab.settle()
        #expect(member.store.inbox.isEmpty && bot.intake.count == 0)
        reader.cancel()
        try await lab.settle()
    }

    private final class Outcomes: Sendable {
        private let content = Mutex<[String]>([])

        var lines: [String] { content.withLock { $0 } }

        func add(_ line: String) { content.withLock { $0.append(line) } }
    }

    @Test func outcomesReachOnlyTheirProgram() async throws {
        let lab = try GroupLab(seed: 3)
        let bots = ["tested", "other"].map { label in
            ExternalBot(
                label: label, program: ExternalBotProgram(command: ["x"], directory: "/"), policy: Self.policy)
        }
        let entries = bots.map { LabBots.Entry($0, label: $0.label, policy: Self.policy) }
        let member = try await lab.bots("program", LabBots(entries))
        let seen = Outcomes()
        let readers = bots.map { bot in
            Task(executorPreference: lab.executor) {
                for await event in bot.intake.events {
                    if case .outcome(let outcome) = event.content {
                        seen.add("\(bot.label): \(outcome.action) \(outcome.result.name)")
                    }
                    bot.intake.complete(event.inboxID)
                }
            }
        }
        let bob = try await lab.member("bob")
        let chat = try await bob.create("work", inviting: [member])
        let id = ActionID(rawValue: "tested/command-1")
        member.core.dispatch(.sendMessage(chatID: chat, .text("hi")), request: .command(id), reportedAs: id)
        try await lab.advance(by: .seconds(10))
        #expect(seen.lines == ["tested: tested/command-1 delivered"])
        #expect(bob.heard() == ["hi"] && member.store.inbox.isEmpty)
        for reader in readers { reader.cancel() }
        try await lab.settle()
    }

    /// Postpones the first event that it receives.
    private struct Postponing: SelfTimingBot {
        static let name = "postponing"

        let calls = Counted()

        init() {}
        init(settings: BotSettings) throws {}

        var handlers: [Handler] {
            Handler(label: "postpone") { (_: CoreEvent, _: EventScope) -> Handler.Work? in
                { _ in if calls.next() == 1 { throw EventPostponed() } }
            }
        }

        final class Counted: Sendable {
            private let count = Mutex(0)

            func next() -> Int {
                count.withLock { count in
                    count += 1
                    return count
                }
            }
        }
    }

    @Test func postponedEventsAreNotCompleted() async throws {
        let lab = try GroupLab(seed: 2)
        let member = try await lab.bots("program", LabBots([.init(Postponing(), label: "p", policy: Self.policy)]))
        let bob = try await lab.member("bob")
        _ = try await bob.create("work", inviting: [member])
        #expect(member.store.inbox.count == 1)
        member.crash()
        try await member.restart()
        #expect(member.store.inbox.isEmpty)
    }

    private struct HandOver: Service {
        let intake: EventIntake
        let event: CoreEvent
        let begun: AsyncStream<Void>.Continuation
        let failure = Failure()

        final class Failure: Sendable {
            let error = Mutex<(any Error)?>(nil)
        }

        func run() async {
            begun.yield()
            do { try await intake.deliver(event) } catch { failure.error.withLock { $0 = error } }
        }
    }

    @Test func shutdownDoesNotWaitForRoom() async throws {
        let (starts, begun) = AsyncStream.makeStream(of: Void.self)
        let service = HandOver(intake: EventIntake(), event: try FakeAccount().message("x"), begun: begun)
        var configuration = ServiceGroupConfiguration(
            services: [.init(service: service, successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        let group = ServiceGroup(configuration: configuration)
        async let run: Void = group.run()
        for await _ in starts { break }
        await group.triggerGracefulShutdown()
        try await run
        #expect(service.failure.error.withLock { $0 is EventPostponed })
        #expect(service.intake.count == 0)
    }
}
