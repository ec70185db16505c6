import ArgumentParser
import BotProgram
import Logging

extension Pikabot {
    struct Demo: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the echo bot joining an encrypted group over a relay and answering.")

        @Flag(help: "Keep relay and bot running afterwards, and show how to talk to the bot.") var keep = false
        @Flag(help: .hidden) var printConfiguration = false

        func run() async throws {
            guard !printConfiguration else { return Console.printText(DemoConfiguration.embedded) }
            StandardErrorLog.bootstrap(level: .error)
            let logger = Logger(label: "demo")
            try await runUntilSignal([DemoService(keeps: keep, logger: logger)], logger: logger)
        }
    }
}
