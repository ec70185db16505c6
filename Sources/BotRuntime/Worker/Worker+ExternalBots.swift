import BotConfiguration
import BotDispatch
import Errors
import ExternalBots
import Nostr
import PikaCore
import ProcessSupport
import ServiceLifecycle

/// The external bots of the configuration.
extension Worker {
    /// Creates an external bot. Throws `WorkerError.Code.badSettings` when a secret of its environment cannot be
    /// loaded. Blocks on commands that print secrets.
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

    /// Adds the status of the external bots for operators: the seconds that each has run, its restarts, and the events
    /// waiting for it.
    func withPrograms(_ status: JSONValue) async -> JSONValue {
        guard var object = status.object, !programs.isEmpty else { return status }
        let now = SystemClock().nowMilliseconds
        var list: [JSONValue] = []
        for program in programs {
            let status = await program.status
            let age = status.since.map { JSONValue.integer(max(0, now - $0) / 1000) }
            list.append([
                "name": .string(status.name), "state": .string(status.state.rawValue), "age": age ?? .null,
                "restarts": .integer(Int64(status.restarts)), "waiting": .integer(status.waiting),
            ])
        }
        object["programs"] = .array(list)
        return .object(object)
    }

    /// Returns the services of the external bots. They start before the dispatcher, which hands events to them, and end
    /// after it.
    func programServices(
        of core: AppCore, _ configuration: CoreConfiguration, _ admission: Admission, _ clock: SystemClock
    ) -> [ServiceGroupConfiguration.ServiceConfiguration] {
        let supervision = self.configuration.supervisor
        let restarts = RestartPolicy(
            intensity: supervision.intensity, period: supervision.period, backoff: supervision.backoff)
        return programs.map { program in
            // In addition to the core's time for its outbox.
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
