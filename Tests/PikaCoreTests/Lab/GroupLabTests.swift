import BotTesting
import Testing

private struct PoliteBot: Bot {
    static let name = "polite"
    private let word: String

    init(settings: BotSettings) throws {
        word = settings["word"]?.stringValue ?? "hello"
    }

    var handlers: [Handler] {
        Handler(label: "greet") { event, _ in
            guard case .message(let message) = event.content, message.content == "hi" else { return nil }
            return { context in
                let count = Int(try await context.text("count") ?? "0") ?? 0
                context.setText(String(count + 1), forKey: "count")
                context.reply("\(self.word) \(count + 1)")
            }
        }
    }
}

@Suite struct GroupLabTests {
    @Test func labBotAnswersAfterRestart() async throws {
        let lab = try GroupLab(seed: 90)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(PoliteBot.self, settings: .object(["word": .string("good day")]))
        try await alice.create("group", inviting: [bot])
        try await alice.say("hi")
        try await lab.expect(bot, replied: "good day 1")
        bot.crash()
        try await bot.restart()
        try await alice.say("not for you")
        try await alice.say("hi")
        try await lab.expect(bot, replied: "good day 1", "good day 2")
    }

    @Test func failedExpectationNamesSeed() async throws {
        let lab = try GroupLab(seed: 91)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(PoliteBot.self)
        try await alice.create("group", inviting: [bot])
        let error = await #expect(throws: LabError.self) { try await lab.expect(bot, replied: "hello") }
        #expect(error?.code == .unmet)
        #expect(error?.message.contains("seed 91") == true)
    }

    @Test func seedRepeatsRun() async throws {
        func run(_ seed: UInt64) async throws -> [EventID] {
            let lab = try GroupLab(seed: seed, relays: 2, schedule: .shuffled)
            let alice = try await lab.member("alice")
            let bot = try await lab.bot(PoliteBot.self)
            try await alice.create("group", inviting: [bot])
            try await alice.say("hi")
            try await alice.rename(to: "new")
            try await alice.say("hi")
            return lab.network.publications.map(\.publication.event.id)
        }
        let first = try await run(92)
        #expect(first == (try await run(92)))
        #expect(first != (try await run(93)))
    }

    @Test func reportsPendingWork() async throws {
        let lab = try GroupLab(seed: 94)
        let alice = try await lab.member("alice")
        lab.network.onPublish { _ in .hold }
        await #expect(throws: LabError(.stillWaiting, "")) {
            try await alice.create("x", inviting: [])
            try await alice.rename(to: "y")
        }
    }
}
