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
            drainDeadline: file.drain)
    }
}

extension WorkerSpecification {
    /// One worker for each account of a configuration: this executable again, told which account is its own.
    package static func workers(of configuration: Configuration, file: String) -> [WorkerSpecification] {
        configuration.accounts.map { account in
            WorkerSpecification(
                name: account.name, executable: Executable.path,
                arguments: ["worker", file, "--account", account.name],
                finalStatuses: [ExitCode.laterCopy.rawValue])
        }
    }
}
