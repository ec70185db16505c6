package import ArgumentParser
import BotRuntime
import Foundation

extension BotProgram {
    package struct Check: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Check a configuration file and print it with every default, without secrets.",
            discussion: """
                Everything that is wrong is said at once, with line and column. What is missing around the file (keys, \
                programs, folders) is a warning, since the file may be meant for another machine; `run` refuses it.
                """)

        @Argument(help: "The configuration file.") var file: String?
        @OptionGroup var shards: ShardOptions
        @Flag(help: "Take warnings for errors, as `run` does.") var strict = false
        @Flag(help: "Print the JSON Schema of configuration files.") var schema = false
        @Flag(help: "Print the reference of configuration files, in Markdown.") var reference = false

        package init() {}

        package func validate() throws {
            guard (file != nil) != (schema || reference), !(schema && reference) else {
                throw ValidationError("give one configuration file, or --schema, or --reference")
            }
        }

        package func run() throws {
            if schema { return Console.printText(ConfigurationDocuments.schema) }
            guard let file else { return Console.printText(ConfigurationDocuments.reference) }
            let checked = try ConfigurationFile.loadOrExit(file, placement: Placement(shard: try shards.chosen()))
            let missing = checked.missing(environment: ProcessInfo.processInfo.environment)
            for problem in missing { Console.printError("\(strict ? "error" : "warning"): \(problem)") }
            if strict, !missing.isEmpty { throw ExitCode.wrongConfiguration }
            Console.printText(checked.configuration.redactedDescription)
        }
    }
}
