package import ArgumentParser
import Nostr

extension BotProgram {
    package struct Why: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Explain the outcome of an event for each bot, with advice.",
            discussion: """
                The event is given by the id of the message, commit or call signal, or of the kind 445 or 1059 event that \
                wraps it on relays, or by a prefix of either of at least four digits.
                """)

        @OptionGroup var options: ControlOptions
        @Argument(help: "The event's id in hex, or a prefix of it.") var event: String
        @Option(help: "Query only this account.") var account: String?

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
