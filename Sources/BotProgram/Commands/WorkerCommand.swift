package import ArgumentParser
import BotConfiguration
import BotRuntime
import Foundation
import Logging
import Telemetry

extension BotProgram {
    package struct WorkerCommand: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "worker", abstract: "Run one account; `run` starts one such process per account.",
            discussion:
                "Exits on the end of its standard input and on SIGTERM. Writes status and events as JSON lines.",
            shouldDisplay: false)

        @Argument(help: "The configuration file.") var file: String
        @Option(help: "The account's name.") var account: String
        @Flag(help: "Read the file's text from the first line of standard input.") var greeted = false

        package init() {}

        package func run() async throws {
            let registry = BotProgram.registry
            let configuration =
                try greeted
                ? WorkerGreeting.read().load(file: file, registry: registry).configuration
                : Configuration.loadOrExit(file)
            if greeted { OrphanWatchdog.arm(drain: configuration.supervisor.drain) }
            StandardErrorLog.bootstrap(configuration.observe)
            var options = WorkerOptions()
            options.metrics = MetricRegistry.bootstrap()
            options.reload = { [file] question in
                try WorkerGreeting(question).load(file: file, registry: registry).configuration
            }
            options.apply = { StandardErrorLog.level = $0.observe.loggerLevel }
            do {
                let worker = try Worker(
                    account: account, configuration: configuration, registry: registry, options: options,
                    environment: ProcessInfo.processInfo.environment, logger: Logger(label: "worker"))
                try await worker.run()
            } catch {
                let failure = WorkerFailure(error)
                Console.printError("error: account \(account): \(failure.message)")
                if greeted { writeToStandardOutput(failure.line) }
                throw failure.status
            }
        }
    }
}
