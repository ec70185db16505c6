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
            discussion: """
                SIGTERM and SIGINT let the workers finish what they do, and end. SIGHUP reads the file anew: what can \
                change at once does, what cannot is named, and a wrong file changes nothing. In a terminal, SIGHUP is \
                the terminal's end, and ends.

                Operators reach it by the control socket: see status, logs, restart, stop and reload. systemd is told \
                of readiness, reloads, the end, and work done (NOTIFY_SOCKET, WATCHDOG_USEC).
                """)

        @Argument(help: "The configuration file.") var file: String

        package init() {}

        package func run() async throws {
            let file = try ConfigurationFile.loadOrExit(
                file, requiring: ProcessInfo.processInfo.environment)
            StandardErrorLog.bootstrap(file.configuration.observe)
            do {
                let run = try SupervisedRun(
                    path: self.file, file: file, metrics: MetricRegistry.bootstrap(),
                    logger: Logger(label: "supervisor"))
                try await run.run()
            } catch let error as SupervisorError {
                Console.printError("error: \(error.message)")
                throw error.finalStatus.map { ExitCode($0) } ?? .failure
            } catch {
                let failure = WorkerFailure(error)
                Console.printError("error: \(failure.message)")
                throw failure.status
            }
        }
    }
}
