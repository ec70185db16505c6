package import ArgumentParser
import BotRuntime

extension BotProgram {
    package struct Check: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Check a configuration file and print it with every default, without secrets.")

        @Argument(help: "The configuration file.") var file: String

        package init() {}

        package func run() throws {
            let configuration = try Configuration.loadOrExit(file)
            Console.printText(configuration.redactedDescription)
        }
    }
}
