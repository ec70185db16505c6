package import ArgumentParser
import BotConfiguration
import Foundation
import Logging
import Supervisor
import Telemetry
import UnixSignals

extension BotProgram {
    package struct Run: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            abstract: "Run all accounts of a configuration file, one worker process each, and restart failed ones.",
            discussion: """
                SIGTERM and SIGINT drain the workers and exit. SIGHUP reloads the file: live changes are applied, the \
                others are listed, and an invalid file changes nothing. In a terminal, SIGHUP drains the workers and \
                exits.

                Operators use the control socket: see status, logs, restart, stop and reload. systemd is notified \
                of readiness, reloads, stopping and the watchdog (NOTIFY_SOCKET, WATCHDOG_USEC).

                Several processes may share the accounts of one file, each with its own --shard. A shard without \
                accounts waits for a reload that adds one.
                """)

        @Argument(help: "The configuration file.") var file: String
        @OptionGroup var shards: ShardOptions
        @Option(help: "Address for health and metrics, overriding the file; or set PIKABOT_LISTEN.")
        var listen: String?

        package init() {}

        package func run() async throws {
            // Trap SIGHUP first, because otherwise it ends the process. Signals are queued until the supervisor exists.
            let hangups = await UnixSignalsSequence(trapping: .sighup)
            let placement = Placement(shard: try shards.chosen(), listen: try listenAddress())
            let file = try ConfigurationFile.loadOrExit(
                file, placement: placement, requiring: ProcessInfo.processInfo.environment)
            StandardErrorLog.bootstrap(file.configuration.observe)
            do {
                let run = try SupervisedRun(
                    path: self.file, file: file, placement: placement, hangups: hangups,
                    metrics: MetricRegistry.bootstrap(), logger: Logger(label: "supervisor"))
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

        package func validate() throws { _ = try listenAddress() }

        private func listenAddress() throws -> ListenAddress? {
            let variable = "PIKABOT_LISTEN"
            guard let text = listen ?? ProcessInfo.processInfo.environment[variable] else { return nil }
            guard let address = ListenAddress(configurationText: text) else {
                throw ValidationError(
                    "\(listen == nil ? variable : "--listen"): expected HOST:PORT such as 127.0.0.1:9464, found \"\(text)\""
                )
            }
            return address
        }
    }
}
