package import ArgumentParser
import BotRuntime
import Foundation
import Logging
import Supervisor
import Telemetry
import UnixSignals

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

                Several processes may share the accounts of one file, each with another --shard. One that is left \
                without an account waits for a reload that gives it one.
                """)

        @Argument(help: "The configuration file.") var file: String
        @OptionGroup var shards: ShardOptions
        @Option(help: "Serve health and metrics here, whatever the file says; or set PIKABOT_LISTEN.")
        var listen: String?

        package init() {}

        package func run() async throws {
            // First, because an untrapped SIGHUP ends the process. Signals before the supervisor exists are queued.
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
                    "\(listen == nil ? variable : "--listen"): \"\(text)\" is no HOST:PORT, such as 127.0.0.1:9464")
            }
            return address
        }
    }
}
