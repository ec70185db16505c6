import Testing

@testable import BotRuntime

/// A configuration that is refused, and everything that is said about it.
struct WrongConfiguration: Sendable, CustomTestStringConvertible {
    let name: String
    let yaml: String
    let messages: [String]

    init(_ name: String, _ yaml: String, _ messages: [String]) {
        self.name = name
        self.yaml = yaml
        self.messages = messages
    }

    var testDescription: String { name }
}

func configurationMessages(_ yaml: String) -> [String] {
    do {
        _ = try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo", "responder"])
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

struct ConfigurationErrorTests {
    @Test(arguments: wrongFileConfigurations + wrongBotConfigurations)
    func saysExactly(wrong: WrongConfiguration) {
        #expect(configurationMessages(wrong.yaml) == wrong.messages)
    }
}
