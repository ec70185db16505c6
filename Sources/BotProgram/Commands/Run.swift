package import ArgumentParser
import BotRuntime
import Foundation
import Logging
import Supervisor
import Telemetry

extension BotProgram {
    package struct Run: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Run all accounts of a configuration file, a worker each, and keep them running.",
            discussion: "SIGTERM and SIGINT let the workers finish what they do, and end.")

        @Argument(help: "The configuration file.") var file: String

        package init() {}

        package func run() async throws {
            let configuration = try ConfigurationFile.loadOrExit(
                file, requiring: ProcessInfo.processInfo.environment
            ).configuration
            StandardErrorLog.bootstrap(configuration.observe)
            let metrics = MetricRegistry.bootstrap()
            let logger = Logger(label: "supervisor")
            let supervisor = try Supervisor(
                workers: WorkerSpecification.workers(of: configuration, file: file),
                configuration: SupervisorConfiguration(configuration.supervisor), clock: ContinuousClock(),
                generator: SystemRandomNumberGenerator(), logger: logger)
            // The endpoint goes last: it tells also how a shutdown goes on.
            let endpoint = supervisor.observation(of: configuration, registry: metrics)
            try await runUntilSignal((endpoint.map { [$0] } ?? []) + [supervisor], logger: logger)
        }
    }
}
