package import ArgumentParser
import BotRuntime
import Foundation
import Logging
import PikaCore
import Telemetry

extension BotProgram {
    package struct WorkerCommand: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "worker", abstract: "Run one account; what `run` starts for each.",
            discussion: "Ends with its standard input and on SIGTERM. Writes status and events as lines of JSON.",
            shouldDisplay: false)

        @Argument(help: "The configuration file.") var file: String
        @Option(help: "Name of the account.") var account: String

        package init() {}

        package func run() async throws {
            let configuration = try Configuration.loadOrExit(file)
            StandardErrorLog.bootstrap(configuration.observe)
            var options = WorkerOptions()
            options.metrics = MetricRegistry.bootstrap()
            let worker = try Worker(
                account: account, configuration: configuration, registry: BotProgram.registry, options: options,
                environment: ProcessInfo.processInfo.environment, logger: Logger(label: "worker"))
            do { try await worker.run() } catch let error as AppCoreError where error.code == .superseded {
                Console.printError("error: account \(account): \(error.message)")
                throw ExitCode.laterCopy
            }
        }
    }
}
