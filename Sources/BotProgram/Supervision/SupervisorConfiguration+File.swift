import ArgumentParser
package import BotRuntime
package import Supervisor

extension SupervisorConfiguration {
    /// The limits as a configuration file gives them.
    ///
    /// - Parameter isShard: Whether it may be left without an account, and is to wait for one.
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
    /// One worker for each account of a configuration: this executable again, told which account is its own.
    ///
    /// - Parameters:
    ///   - stateDirectory: where the state is as long as the supervisor runs.
    ///   - isShard: whether an account may still be at work in another shard, which has to give it up first when the
    ///     file or the number of shards has changed: then its worker waits for the account's state.
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
                finalStatuses: final, waitingStatuses: Set([ExitCode.mustWait.rawValue] + inUse),
                greeting: greeting)
        }
    }

    /// The service manager listens to the supervisor.
    private static var notForWorkers: [String: String?] {
        ["NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil]
    }
}
