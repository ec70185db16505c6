import EchoBot
import ResponderBot
import Testing

@testable import BotConfiguration

func configurationMessages(_ yaml: String) -> [String] {
    do {
        _ = try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo", "responder"])
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

/// Known kinds of invalid files, with their exact messages.
struct ConfigurationErrorTests {
    @Test(arguments: WrongConfiguration.all)
    func reportsExactMessages(wrong: WrongConfiguration) {
        #expect(configurationMessages(wrong.yaml) == wrong.messages)
    }

    @Test(arguments: WrongConfiguration.settings)
    func reportsExactBotMessages(wrong: WrongConfiguration) throws {
        let error = #expect(throws: ConfigurationError.self) {
            try ConfigurationFile(
                wrong.yaml, file: "bot.yaml", folder: "/etc/pikabot",
                known: KnownBots(BotRegistry(EchoBot.self, ResponderBot.self)))
        }
        #expect(error?.problems.map(\.description) == wrong.messages)
    }

    @Test func tablesAreLarge() {
        let all = WrongConfiguration.all + WrongConfiguration.settings
        #expect(Set(all.map(\.name)).count == all.count)
        #expect(all.count >= 150)
        #expect(all.allSatisfy { !$0.messages.isEmpty })
    }
}
