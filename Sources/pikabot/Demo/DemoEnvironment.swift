import BotConfiguration
import BotProgram
import BotRuntime
import EmbeddedRelay
import Logging
import Nostr
import ServiceLifecycle
import Supervisor
import Synchronization

/// The demo's environment: a relay, and the bot's worker under a supervisor.
struct DemoEnvironment: Sendable {
    let relay: RelayURL
    let bot: PublicKey
    let directory: String
    /// The supervisor's events.
    let events: Broadcast<SupervisorEvent>
    let diagnostics: Diagnostics

    /// The last lines of the worker's standard error.
    final class Diagnostics: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) {
            lines.withLock { lines in
                lines.append(line)
                if lines.count > 30 { lines.removeFirst() }
            }
        }

        var last: [String] { lines.withLock { $0 } }
    }
}

/// Starts the environment in a folder, runs `body`, and stops everything again.
func withDemoEnvironment<Result: Sendable>(
    in directory: String, diagnostics: DemoEnvironment.Diagnostics, logger: Logger,
    _ body: @escaping @Sendable (DemoEnvironment) async throws -> Result
) async throws -> Result {
    try await withEmbeddedRelay(logger: logger) { _, address in
        let demo = try DemoConfiguration.install(in: directory, relay: address)
        let events = Broadcast<SupervisorEvent>()
        let supervisor = try Supervisor(
            workers: WorkerSpecification.workers(
                of: demo.loaded, path: demo.file, stateDirectory: demo.loaded.configuration.stateDirectory),
            configuration: SupervisorConfiguration(demo.loaded.configuration.supervisor), clock: ContinuousClock(),
            generator: SystemRandomNumberGenerator(), logger: logger, writeDiagnostics: diagnostics.add,
            observe: events.send)
        let environment = DemoEnvironment(
            relay: try RelayURL(address), bot: demo.bot, directory: directory, events: events,
            diagnostics: diagnostics)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await supervisor.run()
                return nil
            }
            group.addTask { try await body(environment) }
            while let finished = try await group.next() {
                if let result = finished {
                    supervisor.drain()
                    _ = try await group.next()
                    return result
                }
                // During a shutdown the supervisor ends first, and the conversation right after it.
                guard Task.isShuttingDownGracefully else { throw CommandError("the worker ended unexpectedly") }
            }
            throw CancellationError()
        }
    }
}
