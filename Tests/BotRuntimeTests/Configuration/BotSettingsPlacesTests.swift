import BotKit
import Testing

@testable import BotRuntime

/// What bots say about their settings, with the places in the file.
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
                    alarm.fail(nil, expected: "a schedule", fix: "\(error)")
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

    @Test func problemsHaveTheirPlace() throws {
        #expect(
            try messages(
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
                """) == [
                    "bot.yaml:8:9: the key greeting"
                ])
    }

    @Test func secretsInSettingsAreNotShownByBots() throws {
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
