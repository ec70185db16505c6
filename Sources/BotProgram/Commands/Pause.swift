package import ArgumentParser
import Nostr
import Telemetry

extension BotProgram {
    package struct Pause: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Give a bot no events any more, until it is resumed; also after a restart.",
            discussion: "What comes meanwhile is not caught up on.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account.") var account: String
        @Argument(help: "The bot; none: all of the account.") var bot: String?

        package init() {}

        package func run() throws { try options.turn("pause", account, bot) }
    }

    package struct Resume: ParsableCommand {
        package static let configuration = CommandConfiguration(abstract: "Give a paused bot events again.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account.") var account: String
        @Argument(help: "The bot; none: all of the account.") var bot: String?

        package init() {}

        package func run() throws { try options.turn("resume", account, bot) }
    }
}

extension ControlOptions {
    fileprivate func turn(_ command: String, _ account: String, _ bot: String?) throws {
        var parameters: JSONObject = ["account": .string(account)]
        parameters["bot"] = bot.map { .string($0) }
        let result = try ControlClient(self).call(command, parameters)
        let paused = result["paused"]?.array?.compactMap(\.string) ?? []
        let text = paused.isEmpty ? "none of the account's bots is paused" : "paused: \(paused.joined(separator: ", "))"
        Console.printText(json ? result.prettyText : text.terminalLine)
    }
}
