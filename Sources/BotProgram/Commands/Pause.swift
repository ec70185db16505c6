package import ArgumentParser
import Nostr
import Telemetry

extension BotProgram {
    package struct Pause: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Stop delivering events to a bot until it is resumed, even after a restart.",
            discussion: "Events that arrive while it is paused are skipped.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account.") var account: String
        @Argument(help: "The bot; all of the account by default.") var bot: String?

        package init() {}

        package func run() throws { try options.sendPauseCommand("pause", account, bot) }
    }

    package struct Resume: ParsableCommand {
        package static let configuration = CommandConfiguration(abstract: "Deliver events to a paused bot again.")

        @OptionGroup var options: ControlOptions
        @Argument(help: "The account.") var account: String
        @Argument(help: "The bot; all of the account by default.") var bot: String?

        package init() {}

        package func run() throws { try options.sendPauseCommand("resume", account, bot) }
    }
}

extension ControlOptions {
    fileprivate func sendPauseCommand(_ command: String, _ account: String, _ bot: String?) throws {
        var parameters: JSONObject = ["account": .string(account)]
        parameters["bot"] = bot.map { .string($0) }
        let result = try ControlClient(self).call(command, parameters)
        let paused = result["paused"]?.array?.compactMap(\.string) ?? []
        let text = paused.isEmpty ? "no bot of the account is paused" : "paused: \(paused.joined(separator: ", "))"
        Console.printText(json ? result.prettyText : text.terminalLine)
    }
}
