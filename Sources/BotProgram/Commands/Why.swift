package import ArgumentParser
import Nostr

extension BotProgram {
    package struct Why: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Say what became of an event, bot by bot, and what to do about it.",
            discussion: """
                The event is named by the id of the message, commit or call signal, or by that of the event of kind 445 \
                or 1059 around it as relays have it; or by the first digits of either, at least four.
                """)

        @OptionGroup var options: ControlOptions
        @Argument(help: "The event's id in hex, or its first digits.") var event: String
        @Option(help: "Ask this account only.") var account: String?

        package init() {}

        package func run() throws {
            var parameters: JSONObject = ["event": .string(event)]
            parameters["account"] = account.map { .string($0) }
            let result = try ControlClient(options).call("why", parameters)
            let view = WhyView(result, of: account)
            guard !view.isFailure else { throw CommandError(view.text) }
            Console.printText(options.json ? result.prettyText : view.text)
        }
    }
}
