package import ArgumentParser
import Foundation
import Nostr

extension BotProgram {
    package struct ConsoleCommand: ParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "console",
            abstract: "Print a link that logs in to the web console of a running program.",
            discussion: """
                The link works once and for five minutes; the login lasts twelve hours, or until the program ends. If the \
                configuration has no observe.console, the console starts at 127.0.0.1:9465.
                """)

        @OptionGroup var options: ControlOptions
        @Flag(help: "Permit looking, but no action.") var view = false
        @Option(help: "The name under which actions are logged; your user name by default.") var name: String?

        package init() {}

        package func run() throws {
            let name = name ?? ProcessInfo.processInfo.userName
            let result = try ControlClient(options).call(
                "console", ["name": .string(name), "role": .string(view ? "view" : "operate")])
            guard let url = result["url"]?.string else { throw CommandError("the program has not sent a link") }
            Console.printText(options.json ? result.prettyText : url)
        }
    }
}
