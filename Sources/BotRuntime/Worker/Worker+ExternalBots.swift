import BotDispatch
import ExternalBots
import PikaCore
import ServiceLifecycle

/// Programs that are bots, as the configuration has them.
extension Worker {
    /// Throws ``WorkerError/Code/badSettings`` when a secret of its environment cannot be had. Blocks on commands that
    /// print secrets.
    static func program(
        _ external: ExternalBotConfiguration, of bot: BotConfiguration, _ environment: [String: String]
    ) throws(WorkerError) -> ExternalBot {
        var variables: [String: String] = [:]
        for (name, variable) in external.environment {
            switch variable {
            case .text(let text): variables[name] = text
            case .secret(let reference):
                do { variables[name] = try reference.loadSecret(environment: environment) } catch {
                    throw WorkerError(.badSettings, "bot \(bot.name): environment.\(name): \(error.message)")
                }
            }
        }
        let program = ExternalBotProgram(
            command: external.command, directory: absolute(external.directory),
            environment: ProgramEnvironment.make(listed: variables, from: environment), commands: external.commands,
            groups: external.groups, restart: external.restart)
        return ExternalBot(label: bot.name, program: program, policy: bot.policy)
    }

    /// They begin before the dispatcher, which hands events to them, and end after it.
    func programServices(
        of core: AppCore, _ configuration: CoreConfiguration, _ admission: Admission, _ clock: SystemClock
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let supervision = self.configuration.supervisor
        let restarts = RestartPolicy(
            intensity: supervision.intensity, period: supervision.period, backoff: supervision.backoff)
        return programs.map { program in
            // Beside the core's time for its outbox.
            let service = ExternalBotService(
                program, core: core,
                configuration: .init(
                    core: configuration, restarts: restarts, grace: supervision.drain / 4,
                    noteAnswer: { admission.answered($0, nowMilliseconds: clock.nowMilliseconds) }),
                clock: clock, logger: logger)
            return .init(service: service)
        }
    }
}
