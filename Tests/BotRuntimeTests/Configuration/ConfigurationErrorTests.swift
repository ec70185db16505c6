import Testing

@testable import BotRuntime

func configurationMessages(_ yaml: String) -> [String] {
    do {
        _ = try Configuration.parse(yaml, file: "bot.yaml", folder: "/etc/pikabot", knownBots: ["echo", "responder"])
        return []
    } catch {
        return error.problems.map(\.description)
    }
}

/// Every way in which a file can be wrong that somebody thought of, and all that is said about it.
struct ConfigurationErrorTests {
    @Test(arguments: WrongConfiguration.all)
    func saysExactly(wrong: WrongConfiguration) {
        #expect(configurationMessages(wrong.yaml) == wrong.messages)
    }

    @Test func thereAreManyOfEveryKind() {
        #expect(Set(WrongConfiguration.all.map(\.name)).count == WrongConfiguration.all.count)
        #expect(WrongConfiguration.all.count >= 140)
        #expect(WrongConfiguration.all.allSatisfy { !$0.messages.isEmpty })
    }
}
