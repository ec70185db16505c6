import BotTesting
import Testing

@Suite struct ReminderBotTests {
    @Test func remindsWhenDue() async throws {
        let lab = try GroupLab(seed: 1)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(ReminderBot.self)
        try await alice.create("kitchen", inviting: [bot])
        try await alice.say("/remind 10m the tea")
        try await lab.advance(by: .seconds(5 * 60))
        // Nothing is lost when the process crashes.
        bot.crash()
        try await bot.restart()
        try await lab.advance(by: .seconds(6 * 60))
        try await lab.expect(bot, replied: "time for the tea")
    }

    @Test func countsEachChatSeparately() async throws {
        let lab = try GroupLab(seed: 3)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(ReminderBot.self)
        let kitchen = try await alice.create("kitchen", inviting: [bot])
        let garden = try await alice.create("garden", inviting: [bot])
        for chat in [kitchen, garden, kitchen] { try await alice.say("/count", in: chat) }
        #expect(alice.heard(in: kitchen, from: bot) == ["1", "2"])
        #expect(alice.heard(in: garden, from: bot) == ["1"])
    }

    @Test func explainsCommandUsage() async throws {
        let lab = try GroupLab(seed: 2)
        let alice = try await lab.member("alice")
        let bot = try await lab.bot(ReminderBot.self, settings: .object(["greeting": .string("hi")]))
        try await alice.create("kitchen", inviting: [bot])
        try await alice.say("/remind soon")
        try await alice.say("/help")
        let heard = alice.heard(from: bot)
        #expect(heard.count == 2)
        #expect(heard.allSatisfy { $0.contains("/remind <after> <text…>") })
    }

    @Test func refusesWrongSettings() {
        #expect(throws: BotSettingsError.self) { try ReminderBot(settings: .object(["greting": .string("hi")])) }
    }
}
