import BotConfiguration
import Errors
import ExternalBots
import Foundation
import PikaCore
import Testing

@testable import BotRuntime

@Suite struct WorkerProgramsTests {
    private static func made(
        _ environment: [String: ExternalBotConfiguration.Variable], from worker: [String: String]
    ) throws -> ExternalBot {
        var external = ExternalBotConfiguration(command: ["python3", "bot.py"], directory: "/srv/bots")
        external.environment = environment
        external.commands = ["react"]
        external.groups = ["ab"]
        external.restart = .transient
        let bot = BotConfiguration(name: "scribe", source: .external(external))
        return try Worker.program(external, of: bot, worker)
    }

    @Test func programMatchesConfiguration() throws {
        let worker = ["PATH": "/bin", "HOME": "/h", "TOKEN": "secret", "OTHER": "x"]
        let bot = try Self.made(["MODE": .text("quiet"), "KEY": .secret(.environment("TOKEN"))], from: worker)
        #expect(bot.label == "scribe")
        #expect(
            bot.program
                == ExternalBotProgram(
                    command: ["python3", "bot.py"], directory: "/srv/bots",
                    environment: ["PATH": "/bin", "HOME": "/h", "MODE": "quiet", "KEY": "secret"],
                    commands: ["react"], groups: ["ab"], restart: .transient))
    }

    @Test func namesUnavailableSecret() {
        let error = #expect(throws: WorkerError.self) {
            try Self.made(["KEY": .secret(.environment("TOKEN"))], from: [:])
        }
        #expect(error?.code == .badSettings)
        #expect(error?.message.hasPrefix("bot scribe: environment.KEY: ") == true)
    }
}
