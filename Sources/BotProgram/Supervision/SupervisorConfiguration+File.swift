import ArgumentParser
package import BotRuntime
package import Supervisor

extension SupervisorConfiguration {
    /// The limits as a configuration file gives them.
    package init(_ file: SupervisionConfiguration) {
        let strategy: Strategy =
            switch file.strategy {
            case .oneForOne: .oneForOne
            case .oneForAll: .oneForAll
            case .restForOne: .restForOne
            }
        self.init(
            strategy: strategy, intensity: file.intensity, period: file.period, backoff: file.backoff,
            drainDeadline: file.drain, patience: file.patience)
    }
}

extension WorkerSpecification {
    /// One worker for each account of a configuration: this executable again, told which account is its own.
    ///
    /// - Parameter stateDirectory: where the state is as long as the supervisor runs.
    package static func workers(of file: ConfigurationFile, path: String, stateDirectory: String) -> [Self] {
        let greeting = WorkerGreeting(file, stateDirectory: stateDirectory).line
        return file.configuration.accounts.map { account in
            WorkerSpecification(
                name: account.name, executable: Executable.path,
                arguments: ["worker", path, "--account", account.name, "--greeted"],
                environment: notForWorkers, restart: Restart(rawValue: account.restart.rawValue) ?? .permanent,
                finalStatuses: ExitCode.finalStatuses, waitingStatuses: [ExitCode.mustWait.rawValue],
                greeting: greeting)
        }
    }

    /// The service manager listens to the supervisor.
    private static var notForWorkers: [String: String?] {
        ["NOTIFY_SOCKET": nil, "WATCHDOG_USEC": nil, "WATCHDOG_PID": nil]
    }
}
