import BotConfiguration
import BotRuntime
import Foundation
import Logging
import ServiceLifecycle
import Storage
import Supervisor
import Telemetry
import UnixSignals

/// A supervisor with its lock on the state directory, control socket and signal handling.
struct SupervisedRun {
    let supervisor: Supervisor<ContinuousClock>
    private let services: [any Service]
    private let lock: StateDirectoryLock
    private let logger: Logger

    /// Throws ``Storage/StoreError`` when another supervisor holds the state directory or it is not writable, and
    /// ``Supervisor/SupervisorError`` when the control socket cannot be created.
    init(
        path: String, file: ConfigurationFile, placement: Placement = Placement(), hangups: UnixSignalsSequence,
        metrics: MetricRegistry, logger: Logger
    ) throws {
        let configuration = file.configuration
        lock = try Self.lock(configuration.stateDirectory, of: placement.shard)
        let process = ProcessInfo.processInfo
        let workers = { @Sendable (file: ConfigurationFile) in
            WorkerSpecification.workers(
                of: file, path: path, stateDirectory: configuration.stateDirectory, isShard: placement.shard != nil)
        }
        let wakes = ConsoleWakes()
        let supervisor = try Supervisor(
            workers: workers(file),
            configuration: SupervisorConfiguration(configuration.supervisor, isShard: placement.shard != nil),
            clock: ContinuousClock(),
            generator: SystemRandomNumberGenerator(),
            notify: NotifySocket(environment: process.environment, process: process.processIdentifier),
            logger: logger, observe: { wakes.wake($0.worker) })
        let reloader = ConfigurationReloader(
            path: path, file: file, placement: placement, registry: BotProgram.registry, supervisor: supervisor,
            workers: workers,
            logger: logger)
        let console = ConsoleHost(
            configuration.observe.console,
            of: supervisor, reloader, wakes,
            ConsoleProgram(
                process: process.processIdentifier, version: SoftwareVersion.current, file: path,
                shard: placement.shard?.description))
        let commands = ControlCommands(
            supervisor: supervisor, process: process.processIdentifier, reload: { await reloader.reload() },
            console: { await console.link($0) },
            details: { ["configuration": await reloader.status] })
        let control = try ControlServer(path: configuration.controlPath, logger: logger) { await commands.answer($0) }
        // They end in reverse order, so that a drain can be observed.
        let endpoint = supervisor.observation(of: configuration, registry: metrics).map { [$0 as any Service] } ?? []
        services =
            endpoint + [
                console, control,
                HangupSignals(signals: hangups, reloader: reloader, supervisor: supervisor, logger: logger), supervisor,
            ]
        self.supervisor = supervisor
        self.logger = logger
        if let shard = placement.shard { Self.log(shard, has: configuration.accounts, logger) }
    }

    /// Runs until SIGTERM, SIGINT or an operator's command, or until no worker is left to supervise.
    func run() async throws {
        defer { lock.release() }
        try await runUntilSignal(services, logger: logger)
    }

    private static func log(_ shard: Shard, has accounts: [AccountConfiguration], _ logger: Logger) {
        let names = accounts.map(\.name).joined(separator: ", ")
        let line: Logger.Message =
            accounts.isEmpty
            ? "No account in the configuration file belongs to this shard; waiting for a reload"
            : "Accounts of this shard"
        logger.notice(line, metadata: ["shard": "\(shard)", "accounts": "\(names)"])
    }

    /// Locks the directory for one shard: shards of one file may share a directory, and each account has its own lock.
    private static func lock(_ directory: String, of shard: Shard?) throws -> StateDirectoryLock {
        try PrivateFolder.create(directory)
        let file = "supervisor.lock"
        return try StateDirectoryLock(
            directory: directory, file: shard?.path(for: file) ?? file,
            program: "\(Executable.name) run\(shard.map { " --shard \($0)" } ?? "")")
    }
}

extension Configuration {
    /// The path of the control socket of this configuration.
    var controlPath: String { supervisor.control ?? "\(stateDirectory)/control.sock" }
}
