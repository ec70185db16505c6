import BotKit
import LiveTesting
import Testing

@testable import BotConfiguration

/// Problems that bots report in their settings, with their locations in the file.
struct BotSettingsPlacesTests {
    /// A bot with settings of every kind.
    private struct Clock: Bot {
        static let name = "clock"

        init(settings: BotSettings) throws {
            let reader = SettingsReader(settings)
            _ = reader.string("greeting", required: true)
            _ = reader.list("alarms") { alarm -> Schedule? in
                _ = alarm.int("volume", in: 0...10)
                let cron = alarm.string("cron", required: true)
                do {
                    return try cron.map { try Schedule(cron: $0, timeZone: alarm.string("timeZone", default: "UTC")) }
                } catch {
                    alarm.fail("cron", expected: "a schedule", fix: "correct it")
                    return nil
                }
            }
            try reader.finish()
        }

        var handlers: [Handler] { [] }
    }

    private struct Moody: Bot {
        static let name = "moody"

        init(settings: BotSettings) throws { throw BotError(.invalidSettings, "not today") }

        var handlers: [Handler] { [] }
    }

    private func messages(_ yaml: String) throws -> [String] {
        var messages: [String] = []
        try withTemporaryFolder { folder in
            try writeFile(yaml, to: folder + "/bot.yaml")
            do throws(ConfigurationError) {
                _ = try Configuration.load(path: folder + "/bot.yaml", registry: BotRegistry(Clock.self, Moody.self))
            } catch {
                messages = error.problems.map { $0.description.replacing(folder + "/", with: "") }
            }
        }
        return messages
    }

    @Test func problemsHaveLocations() throws {
        let found = try messages(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { env: A }
                bots:
                  - use: clock
                    with:
                      greetng: hello
                      alarms:
                        - cron: "61 * * * *"
                        - { cron: "0 9 * * 1-5", timeZone: Europe/Atlantis }
                        - volume: 11
                          cron: "0 9 * * 1-5"
                  - use: clock
                  - { use: moody, with: { at: night } }
            observe: { level: loud }
            """)
        let expected: [String] = [
            "bot.yaml:9:11: accounts[0].bots[0].with: expected the key greeting, found none; add greeting: …",
            "bot.yaml:9:11: accounts[0].bots[0].with: expected one of greeting, alarms, found the unknown key "
                + "\"greetng\"; write greeting",
            "bot.yaml:11:21: accounts[0].bots[0].with.alarms[0].cron: expected a schedule, found \"61 * * * *\"; "
                + "correct it",
            "bot.yaml:12:23: accounts[0].bots[0].with.alarms[1].cron: expected a schedule, found \"0 9 * * 1-5\"; "
                + "correct it",
            "bot.yaml:13:23: accounts[0].bots[0].with.alarms[2].volume: expected a whole number from 0 to 10, found "
                + "\"11\"; write a number in this range",
            "bot.yaml:15:9: accounts[0].bots[1].with: expected the key greeting, found none; add greeting: …",
            "bot.yaml:16:29: accounts[0].bots[2].with: expected valid settings of the bot, found an error: not today; "
                + "see the documentation of the bot",
            "bot.yaml:17:19: observe.level: expected one of trace, debug, info, notice, warning, error, critical, found "
                + "\"loud\"; write one of them",
        ]
        #expect(found == expected)
    }

    @Test func redactsSecretsInBotProblems() throws {
        let found = try messages(
            """
            version: 1
            relays: [wss://relay.example]
            accounts:
              - name: a
                key: { env: A }
                bots:
                  - { use: clock, with: { greeting: hi, alarms: [ { cron: x, password: hunter2, volume: "${LOUD}" } ] } }
            """)
        #expect(found.count == 4)
        #expect(!found.contains { $0.contains("hunter2") })
    }
}
