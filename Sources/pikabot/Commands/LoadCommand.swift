import ArgumentParser
import BotConfiguration
import BotKit
import BotProgram
import Foundation
import Load
import LoadReport
import Logging
import Nostr
import UnixSignals

extension Pikabot {
    struct LoadCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "load", abstract: "Run a load test: many agents in groups, as described by a plan.",
            discussion: """
                Exit status: 0 all thresholds of the plan hold, 1 the test could not run, 5 a threshold does not hold, 78 \
                the plan is invalid, 130 interrupted; the reports are written in every case.
                """)

        @Argument(help: "The plan: a YAML file.") var file: String
        @Option(help: "The seed of all random choices; overrides the plan.") var seed: UInt64?
        @Option(help: "Relays; override those of the plan.") var relay: [String] = []
        @Option(help: "Directory of the reports; overrides the plan.") var report: String?
        @Option(help: "New or empty directory for the agents' databases. (default: a temporary one)")
        var state: String?
        @Flag(help: "Print no progress.") var quiet = false
        @Flag(help: "Only check the plan and report its errors.") var check = false

        func run() async throws {
            StandardErrorLog.bootstrap(level: .error)
            let (plan, text) = try readPlan()
            try await withTemporaryDirectory(named: "pikabot-load") { folder in
                let test = try test(plan, text, directory: state ?? folder)
                guard !check else { return Console.print("\(file) is valid") }
                let (result, isInterrupted) = try await measure(test)
                try write(result, of: plan)
                if isInterrupted { throw ExitCode.interrupted }
                if !result.passed { throw ExitCode.thresholdFailed }
            }
        }

        private func test(_ plan: LoadPlan, _ text: String, directory: String) throws -> LoadTest {
            let name = URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent
            do {
                return try LoadTest(
                    plan, text: text, name: name, directory: directory, logger: Logger(label: "load"))
            } catch let error as LoadReportError {
                Console.printError("error: \(file): thresholds: \(error)")
                throw ExitCode.wrongConfiguration
            } catch {
                Console.printError("error: \(file): \(error)")
                throw ExitCode.wrongConfiguration
            }
        }

        private func readPlan() throws -> (LoadPlan, String) {
            do {
                var (plan, text) = try SettingsFile.read(path: file) { (settings, text) throws(BotSettingsError) in
                    (try LoadPlan(settings: settings), text)
                }
                if let seed { plan.seed = seed }
                if !relay.isEmpty { plan.relays = try relay.map(Self.relay) }
                return (plan, text)
            } catch let error as ConfigurationError {
                for problem in error.problems { Console.printError("error: \(problem)") }
                throw ExitCode.wrongConfiguration
            }
        }

        private static func relay(_ text: String) throws -> RelayURL {
            do { return try RelayURL(text) } catch {
                Console.printError("error: --relay: \(error)")
                throw ExitCode.wrongConfiguration
            }
        }

        /// Runs the test; the first SIGINT or SIGTERM ends it early.
        private func measure(_ test: LoadTest) async throws -> (result: LoadResult, isInterrupted: Bool) {
            let view = LoadView(isQuiet: quiet)
            return try await withThrowingTaskGroup(of: LoadResult?.self) { group in
                group.addTask { try await test.run { view.show($0, $1) } }
                group.addTask {
                    await Self.firstSignal()
                    return nil
                }
                let first = try await group.next() ?? nil
                group.cancelAll()
                if let first { return (first, false) }
                guard let result = try await group.next() ?? nil else {
                    throw CommandError("the test produced no result")
                }
                return (result, true)
            }
        }

        private static func firstSignal() async {
            let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
            for await _ in signals { return }
        }

        /// Writes the reports; the text report also goes to standard output.
        private func write(_ result: LoadResult, of plan: LoadPlan) throws {
            Console.printText(TextReport.text(result))
            let folder = report ?? plan.report.directory
            let formats = ReportFormat.allCases.filter { plan.report.formats.contains($0) }
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for file in try formats.flatMap({ try $0.files(of: result) }) {
                let path = "\(folder)/\(file.name)"
                try file.contents.write(toFile: path, atomically: true, encoding: .utf8)
                if !quiet { Console.printError("written: \(path)") }
            }
        }
    }
}

extension ExitCode {
    /// Exit status of `load` when the test ran but failed a threshold.
    fileprivate static let thresholdFailed = ExitCode(5)
    /// The shell's exit status for a program ended by SIGINT.
    fileprivate static let interrupted = ExitCode(130)
}
