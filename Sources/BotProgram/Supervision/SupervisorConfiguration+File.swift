import ArgumentParser
package import BotConfiguration
package import Supervisor

extension SupervisorConfiguration {
    /// Creates the limits from a configuration file.
    ///
    /// - Parameter isShard: Whether the supervisor may have no account, and waits for one.
    package init(_ file: SupervisionConfiguration, isShard: Bool = false) {
        let strategy: Strategy =
            switch file.strategy {
            case .oneForOne: .oneForOne
            case .oneForAll: .oneForAll
            case .restForOne: .restForOne
            }
        self.init(
            strategy: strategy, intensity: file.intensity, period: file.period, backoff: file.backoff,
            drainDeadline: file.drain, patience: file.patience, waitsForWorkers: isShard)
    }
}

extension WorkerSpecification {
    /// Returns one worker for each account of a configuration: this executable again, with the name of its account.
    ///
    /// - Parameters:
    ///   - stateDirectory: the state directory, fixed while the supervisor runs.
    ///   - isShard: whether an account may still run in another shard, which has to release it first when the file or
    ///     the number of shards has changed: then its worker waits for the account's state.
    package static func workers(
        of file: ConfigurationFile, path: String, stateDirectory: String, isShard: Bool = false
    ) -> [Self] {
        let greeting = WorkerGreeting(file, stateDirectory: stateDirectory).line
        let inUse = isShard ? [ExitCode.stateInUse.rawValue] : []
        let final = ExitCode.finalStatuses.filter { !inUse.contains($0.key) }
        return file.configuration.accounts.map { account in
            WorkerSpecification(
                name: account.name, executable: Executable.path,
                arguments: ["worker", path, "--account", account.name, "--greeted"],
                environment: notForWorkers, restart: Restart(rawValue: account.restart.rawValue) ?? .permanent,
                finalStatuses: final, waitingStatuses: Set([ExitCode.temporaryFailure.rawValue] + inUse),
                greeting: greeting)
        }
    }

    /// The variables of the service manager that only the supervisor may use.
    private static var notForWorkers: [String: String?] {
        ["NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil]
    }
}
