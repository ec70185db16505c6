package import ArgumentParser
import BotConfiguration
import Foundation

extension BotProgram {
    package struct Check: ParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Check a configuration file and print it with all defaults, without secrets.",
            discussion: """
                All errors are reported at once, with line and column. Missing files outside the configuration (keys, \
                programs, directories) are warnings, because the file may be meant for another machine; `run` rejects them.
                """)

        @Argument(help: "The configuration file.") var file: String?
        @OptionGroup var shards: ShardOptions
        @Flag(help: "Treat warnings as errors, as `run` does.") var strict = false
        @Flag(help: "Print the JSON Schema of configuration files.") var schema = false
        @Flag(help: "Print the reference of configuration files, in Markdown.") var reference = false

        package init() {}

        package func validate() throws {
            guard (file != nil) != (schema || reference), !(schema && reference) else {
                throw ValidationError("expected exactly one of a configuration file, --schema and --reference")
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
