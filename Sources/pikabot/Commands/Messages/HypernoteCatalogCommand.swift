import ArgumentParser
import BotProgram
import Logging
import Nostr
import PikaCore

extension Pikabot {
    struct HypernoteCatalogCommand: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "hypernote-catalog", abstract: "Print the catalog of hypernote components as JSON.")

        @OptionGroup var options: ClientOptions
        @Flag(help: "Print on one line.") var compact = false

        func run() throws {
            StandardErrorLog.bootstrap(level: .error)
            if options.remote { _ = try remoteRequest() }
            Console.printText(compact ? perform().jsonText : perform().prettyText)
        }

        func perform() -> JSONValue { HypernoteCatalog.json }
    }
}
