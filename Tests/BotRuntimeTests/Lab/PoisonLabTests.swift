import BotTesting
import LiveTesting
import Synchronization
import Telemetry
import Testing

/// A bot that ends its process on certain words, like a trapping handler.
private final class PoisonBot: Bot {
    static let name = "poison"

    private struct State {
        var die: @Sendable () -> Void = {}
        /// The jobs that its handlers began, in all processes.
        var begun: [String] = []
    }

    private let state = Mutex(State())

    init(settings: BotSettings = .null) {}

    var begun: [String] { state.withLock(\.begun) }
    func dies(by die: @escaping @Sendable () -> Void) { state.withLock { $0.die = die } }

    private func trap() async {
        state.withLock(\.die)()
        await Self.never()
    }

    /// Returns only when the process has crashed, which cancels the task.
    private static func never() async { for await _ in AsyncStream<Void>(Void.self, { _ in }) {} }

    var handlers: [Handler] {
        OnTimer("trap") { [self] run, _ in
            state.withLock { $0.begun.append("timer \(run.text)") }
            await trap()
        }
        OnMessage { [self] message, context in
            let times = state.withLock { state in
                state.begun.append(message.content)
                return state.begun.count { $0 == message.content }
            }
            switch message.content {
            case "trap": await trap()
            case "later": context.setTimer("trap", key: "k", after: .seconds(5), text: "later")
            // In flight when the process crashes, but not the cause.
            case "slow" where times == 1: await Self.never()
            default: context.reply("heard \(message.content)")
            }
        }
    }
}

private struct PoisonSetup {
    let lab: GroupLab
    let alice: LabMember
    let bot: LabMember
    let poison: PoisonBot
    let chat: ChatID
    let other: ChatID

    init() async throws {
        let poison = PoisonBot()
        self.poison = poison
        lab = try GroupLab(seed: 17)
        alice = try await lab.member("alice")
        let bot = try await lab.bots("greeter", LabBots([LabBots.Entry(poison, label: "poison")]))
        self.bot = bot
        poison.dies { bot.crash() }
        chat = try await alice.create("lab", inviting: [bot])
        other = try await alice.create("other", inviting: [bot])
    }

    /// Restarts the bot after each crash; returns the number of restarts.
    func heal() async throws -> Int {
        for deaths in 0..<10 {
            guard bot.hasCrashed else { return deaths }
            try await bot.restart()
        }
        return 10
    }

    func heard(_ chat: ChatID) -> [String] { alice.heard(in: chat, from: bot) }
}

@Suite(.bounded)
struct PoisonLabTests {
    private func givenUp() -> Double {
        ProcessRegistry.shared.families().first { $0.name == "bot_inbox_given_up_total" }?.series
            .filter { $0.labels.contains(.init("reason", "crashed")) }.map(\.value).reduce(0, +) ?? 0
    }

    @Test func dropsOnlyTheDeadlyEvent() async throws {
        let before = givenUp()
        let setup = try await PoisonSetup()
        try await setup.alice.say("slow", in: setup.other)
        try await setup.alice.say("behind slow", in: setup.other)
        let event = try await setup.alice.say("trap", in: setup.chat)
        #expect(setup.bot.hasCrashed)
        try await setup.alice.say("behind trap", in: setup.chat)
        #expect(try await setup.heal() == 3)
        #expect(setup.poison.begun.count { $0 == "trap" } == 3)
        #expect(setup.heard(setup.chat) == ["heard behind trap"])
        #expect(setup.heard(setup.other) == ["heard slow", "heard behind slow"])
        #expect(setup.bot.store.inbox.isEmpty)
        #expect(
            setup.bot.why(event).contains {
                $0.contains("abandoned: the worker died repeatedly") && $0.contains("died 3 times")
            })
        #expect(givenUp() >= before + 1)
        // The next event has its own count.
        try await setup.alice.say("trap", in: setup.other)
        #expect(try await setup.heal() == 3)
        try await setup.alice.say("hello", in: setup.other)
        #expect(setup.heard(setup.other).last == "heard hello")
        #expect(setup.poison.begun.count { $0 == "trap" } == 6)
    }

    @Test func dropsDeadlyTimer() async throws {
        let setup = try await PoisonSetup()
        try await setup.alice.say("later", in: setup.chat)
        try await setup.lab.advance(by: .seconds(6))
        #expect(setup.bot.hasCrashed)
        #expect(try await setup.heal() == 3)
        #expect(setup.poison.begun == ["later", "timer later", "timer later", "timer later"])
        try await setup.alice.say("hello", in: setup.chat)
        #expect(setup.heard(setup.chat) == ["heard hello"])
    }
}
