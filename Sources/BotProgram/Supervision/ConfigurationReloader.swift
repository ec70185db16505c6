import BotRuntime
import Foundation
import Logging
import Nostr
import Supervisor

/// Reads the configuration file anew while everything runs: what can change at once does, what cannot is named, and a
/// wrong file changes nothing.
actor ConfigurationReloader {
    private let path: String
    private let registry: BotRegistry
    private let supervisor: Supervisor<ContinuousClock>
    private let logger: Logger
    /// Where the state is as long as this process runs, and by which limits it is supervised.
    private let stateDirectory: String
    private let limits: SupervisorConfiguration
    private var current: ConfigurationFile
    private var isUnderWay = false
    /// Of the last time, for those who ask later.
    private var lastOutcome: ControlValue = .null
    private var needsRestart: [String] = []

    init(
        path: String, file: ConfigurationFile, registry: BotRegistry, supervisor: Supervisor<ContinuousClock>,
        logger: Logger
    ) {
        self.path = path
        self.registry = registry
        self.supervisor = supervisor
        self.logger = logger
        current = file
        stateDirectory = file.configuration.stateDirectory
        limits = SupervisorConfiguration(file.configuration.supervisor)
    }

    /// What `status` says of the configuration.
    var status: ControlValue {
        [
            "file": .string(path), "lastReload": lastOutcome,
            "needsRestart": .array(needsRestart.map { .string($0) }),
        ]
    }

    func reload() async -> ControlReply {
        guard !isUnderWay else { return .failure(code: "busy", message: "the configuration is being read already") }
        isUnderWay = true
        defer { isUnderWay = false }
        await supervisor.reloading()
        let time = ControlValue.integer(Int64(Date().timeIntervalSince1970))
        do {
            let file = try ConfigurationFile(path: path, registry: registry)
            try file.requireSurroundings(environment: ProcessInfo.processInfo.environment)
            let result = try await apply(file)
            lastOutcome = .object(["time": time, "success": true].merging(result) { $1 })
            await supervisor.reloaded(true)
            return .result(lastOutcome)
        } catch {
            let problems = (error as? ConfigurationError)?.problems.map(\.description) ?? ["\(error)"]
            for problem in problems {
                logger.error("Configuration not reloaded, the old one holds", metadata: ["problem": "\(problem)"])
            }
            lastOutcome = [
                "time": time, "success": false, "problems": .array(problems.map { .string($0) }),
            ]
            await supervisor.reloaded(false)
            return .failure(code: "wrongConfiguration", message: problems.joined(separator: "\n"))
        }
    }

    private func apply(_ file: ConfigurationFile) async throws -> [String: ControlValue] {
        let changes = current.configuration.changes(to: file.configuration)
        try await supervisor.reconfigure(
            WorkerSpecification.workers(of: file, path: path, stateDirectory: stateDirectory), limits)
        current = file
        StandardErrorLog.level = file.configuration.observe.loggerLevel
        var applied: [String] = []
        var waiting: [String] = []
        for change in changes {
            switch change.effect {
            case .live, .addsAccount, .removesAccount: applied.append(change.description)
            case .restartsWorker:
                waiting.append(change.description)
                for account in accounts(of: change) { await supervisor.note([change.path], needRestartOf: account) }
            case .restartsSupervisor:
                waiting.append(change.description)
                if !needsRestart.contains(change.path) { needsRestart.append(change.path) }
            }
        }
        let refusals = await hand(file, to: Set(changes.filter { $0.effect == .live }.flatMap(accounts)))
        for line in applied { logger.notice("Configuration changed", metadata: ["change": "\(line)"]) }
        for line in waiting { logger.warning("Configuration change must wait", metadata: ["change": "\(line)"]) }
        for line in refusals { logger.error("Configuration change not taken", metadata: ["reason": "\(line)"]) }
        return [
            "applied": .array(applied.map { .string($0) }), "waiting": .array(waiting.map { .string($0) }),
            "refused": .array(refusals.map { .string($0) }),
        ]
    }

    private func accounts(of change: ConfigurationChange) -> [String] {
        change.account.map { [$0] } ?? current.configuration.accounts.map(\.name)
    }

    /// Gives running workers what can change at once; returns what went wrong, in words.
    private func hand(_ file: ConfigurationFile, to accounts: Set<String>) async -> [String] {
        let greeting = WorkerGreeting(file, stateDirectory: stateDirectory)
        let parameters: [String: ControlValue] = [
            "configuration": .string(greeting.configuration), "stateDirectory": .string(stateDirectory),
        ]
        var refusals: [String] = []
        for account in accounts.sorted() {
            do throws(SupervisorError) {
                _ = try await supervisor.ask(account, "reload", parameters)
            } catch  where error.code == .notRunning || error.code == .unknownWorker {
                // It reads the new configuration when it starts.
            } catch {
                refusals.append("\(account): \(error.message)")
                await supervisor.note(["what changed last: \(error.message)"], needRestartOf: account)
            }
        }
        return refusals
    }
}
