import BotConfiguration
import Foundation
import Logging
import Nostr
import Supervisor

/// Reloads the configuration file at runtime: applies the changes that can take effect at once, and reports the others.
/// An invalid file changes nothing.
actor ConfigurationReloader {
    private let path: String
    private let placement: Placement
    private let registry: BotRegistry
    private let supervisor: Supervisor<ContinuousClock>
    private let logger: Logger
    private let workers: @Sendable (ConfigurationFile) -> [WorkerSpecification]
    /// The state directory and the supervision limits, which stay fixed while this process runs.
    private let stateDirectory: String
    private let limits: SupervisorConfiguration
    private var current: ConfigurationFile
    private var isReloading = false
    /// Whether a reload was requested while the file was being read, so that it must be read again.
    private var needsAnotherReload = false
    /// Accounts whose workers have not applied the last changes, with the note that the supervisor keeps about it.
    private var refused: [String: String] = [:]
    /// The outcome of the last reload; nil before the first.
    private(set) var lastOutcome: ReloadOutcome?
    /// Changes that need a restart of the program.
    private(set) var needsRestart: [String] = []

    /// - Parameters:
    ///   - placement: The part of the file that this process runs, already applied to `file`.
    ///   - workers: Returns the workers that the supervisor runs for a configuration.
    init(
        path: String, file: ConfigurationFile, placement: Placement = Placement(), registry: BotRegistry,
        supervisor: Supervisor<ContinuousClock>,
        workers: @escaping @Sendable (ConfigurationFile) -> [WorkerSpecification], logger: Logger
    ) {
        self.path = path
        self.placement = placement
        self.registry = registry
        self.supervisor = supervisor
        self.workers = workers
        self.logger = logger
        current = file
        stateDirectory = file.configuration.stateDirectory
        limits = SupervisorConfiguration(file.configuration.supervisor, isShard: placement.shard != nil)
    }

    /// The configuration part of `status`.
    var status: ControlValue {
        [
            "file": .string(path), "lastReload": lastOutcome?.json ?? .null,
            "needsRestart": .array(needsRestart.map { .string($0) }),
            "shard": placement.shard.map { .string($0.description) } ?? .null,
        ]
    }

    /// Reads the file, applies the changes, and returns the outcome; `success` is true if the file was valid and every
    /// worker concerned has applied its changes.
    func reload() async -> ControlReply {
        guard !isReloading else { return .failure(code: "busy", message: "a reload is already in progress") }
        isReloading = true
        defer { isReloading = false }
        var reply: ControlReply
        repeat {
            needsAnotherReload = false
            reply = await reloadOnce()
        } while needsAnotherReload
        return reply
    }

    /// Does the same as ``reload()``; during a reload it requests another one.
    func requestReload() async {
        needsAnotherReload = true
        if !isReloading { _ = await reload() }
    }

    private func reloadOnce() async -> ControlReply {
        await supervisor.reloading()
        let time = UnixTime.systemTime.seconds
        do {
            let outcome = try await apply(try file(text: nil), time)
            lastOutcome = outcome
            await supervisor.reloaded(outcome.isSuccess)
            return .result(outcome.json)
        } catch {
            let outcome = ReloadOutcome(time: time, error)
            for problem in outcome.problemTexts {
                logger.error(
                    "Configuration not reloaded; the previous one stays in effect", metadata: ["problem": "\(problem)"])
            }
            lastOutcome = outcome
            await supervisor.reloaded(false)
            return .failure(code: "wrongConfiguration", message: outcome.problemTexts.joined(separator: "\n"))
        }
    }

    /// Parses a text in place of the file, or the file itself, as a reload does.
    private func file(text: String?) throws(ConfigurationError) -> ConfigurationFile {
        let file =
            if let text { try ConfigurationFile(text: text, path: path, registry: registry) } else {
                try ConfigurationFile(path: path, registry: registry)
            }
        let placed = placement.applied(to: file)
        try placed.requireReferences(environment: ProcessInfo.processInfo.environment)
        return placed
    }

    /// Returns the changes that a reload would make if the file had this text, or if it stayed as it is; applies none.
    func preview(text: String? = nil) throws(ConfigurationError) -> [ConfigurationChange] {
        current.configuration.changes(to: try file(text: text).configuration)
    }

    /// The configuration in force as YAML with all defaults, without secrets.
    var effectiveText: String { current.configuration.redactedDescription }

    private func apply(_ file: ConfigurationFile, _ time: Int64) async throws -> ReloadOutcome {
        let changes = current.configuration.changes(to: file.configuration)
        try await supervisor.reconfigure(workers(file), limits)
        current = file
        let waiting = await recordPending(changes.filter { !$0.appliesAtOnce })
        // Includes the workers that have not applied the last change.
        let concerned = Set(changes.filter { $0.effect == .live }.flatMap(accounts)).union(refused.keys)
        let refusals = await send(file, to: concerned)
        StandardErrorLog.level = file.configuration.observe.loggerLevel
        let applied = changes.filter(\.appliesAtOnce).map(\.description)
        for line in applied { logger.notice("Configuration changed", metadata: ["change": "\(line)"]) }
        for line in waiting { logger.warning("Configuration change needs a restart", metadata: ["change": "\(line)"]) }
        for line in refusals {
            logger.error("Configuration change rejected by an account", metadata: ["reason": "\(line)"])
        }
        return ReloadOutcome(
            time: time, isSuccess: refused.isEmpty, applied: applied, waiting: waiting, refused: refusals)
    }

    /// Records the changes that need the restart of a worker or of the supervisor, and returns their descriptions.
    private func recordPending(_ changes: [ConfigurationChange]) async -> [String] {
        for change in changes {
            if change.effect == .restartsWorker {
                for account in accounts(of: change) { await supervisor.note([change.path], needRestartOf: account) }
            } else if !needsRestart.contains(change.path) {
                needsRestart.append(change.path)
            }
        }
        return changes.map(\.description)
    }

    private func accounts(of change: ConfigurationChange) -> [String] {
        change.account.map { [$0] } ?? current.configuration.accounts.map(\.name)
    }

    /// Sends running workers the changes that can apply at once; returns the errors as text.
    private func send(_ file: ConfigurationFile, to accounts: Set<String>) async -> [String] {
        let greeting = WorkerGreeting(file, stateDirectory: stateDirectory)
        let parameters: [String: ControlValue] = [
            "configuration": .string(greeting.configuration), "stateDirectory": .string(stateDirectory),
        ]
        var refusals: [String] = []
        for account in accounts.sorted() {
            let earlier = refused.removeValue(forKey: account)
            if let earlier { await supervisor.withdraw(earlier, needRestartOf: account) }
            do throws(SupervisorError) {
                let answer = try await supervisor.ask(account, "reload", parameters)
                // A worker that is still starting uses the previous configuration. Restarting it loses nothing.
                if ControlValue(json: answer)?["phase"] == "starting" { try await supervisor.restart(account) }
            } catch  where error.code == .notRunning || error.code == .unknownWorker {
                // A worker that is not running will read the new configuration when it starts.
            } catch {
                refusals.append("\(account): \(error.message)")
                let note = "last change: \(error.message)"
                refused[account] = note
                await supervisor.note([note], needRestartOf: account)
            }
        }
        return refusals
    }
}

extension ConfigurationChange {
    fileprivate var appliesAtOnce: Bool {
        switch effect {
        case .live, .addsAccount, .removesAccount: true
        case .restartsWorker, .restartsSupervisor: false
        }
    }
}
