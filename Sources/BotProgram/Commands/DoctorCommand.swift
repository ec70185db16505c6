package import ArgumentParser
import BotConfiguration
import Diagnosis
import Foundation
import Logging

extension BotProgram {
    package struct DoctorCommand: AsyncParsableCommand {
        package static let configuration = CommandConfiguration(
            commandName: "doctor",
            abstract: "Diagnose an installation, including each relay, and advise how to fix problems.",
            discussion: """
                Run it as the service's user, with the service's environment. It writes three events to each relay, \
                which cannot be decrypted and expire after a minute. Exit status: 0 without errors (warnings do not \
                count), 1 with errors, 78 if the configuration file is invalid.
                """)

        @Argument(help: "The configuration file.") var file: String
        @OptionGroup var shards: ShardOptions
        @Flag(help: "Print JSON.") var json = false
        @Option(help: "Deadline in seconds of each step with a relay or server.") var patience = 10

        package init() {}

        package func validate() throws {
            guard (1...300).contains(patience) else {
                throw ValidationError("--patience: expected 1 to 300 seconds, found \(patience)")
            }
        }

        package func run() async throws {
            let report: DoctorReport
            do {
                let all = try Configuration.load(path: file, registry: BotProgram.registry)
                let configuration = Placement(shard: try shards.chosen()).applied(to: all)
                let examination = Examination(
                    configuration: configuration, environment: ProcessInfo.processInfo.environment,
                    limit: .seconds(patience), logger: Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() },
                    rollbacks: RollbackFindings.ask(controlPath: configuration.controlPath))
                report = DoctorReport(file: file, findings: try await examination.run())
            } catch let error as ConfigurationError {
                print(DoctorReport(file: file, findings: error.problems.map(\.finding)))
                throw ExitCode.wrongConfiguration
            }
            print(report)
            if report.count(.error) > 0 { throw ExitCode.failure }
        }

        private func print(_ report: DoctorReport) {
            Console.printText(json ? report.json.prettyText : report.text)
        }
    }
}

extension ConfigurationError.Problem {
    fileprivate var finding: Finding {
        let place = keyPath.isEmpty ? "" : "\(keyPath): "
        return Finding(
            .error, subject: "configuration \(file)", check: "line \(line), column \(column)",
            "\(place)expected \(expected), found \(found)", advice: fix)
    }
}
