import ArgumentParser
import BotProgram
import EpicuraSimulator
import Logging
import ServiceLifecycle

extension Pikabot {
    struct EpicuraSimulatorCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "epicura-simulator",
            abstract: "Run a simulated cooking appliance and its cloud in the foreground.",
            discussion: """
                Serves the API of docs/epicura/api.md on one port: REST, live events by WebSocket, and the camera. \
                One-time codes are at /simulator/codes, faults are caused at /simulator/faults, and the requests so far \
                are at /simulator/log. Nothing is stored. Prints EPICURA_SIMULATOR_PORT=<n> on standard error when it \
                listens.
                """)

        @Option(help: "HOST:PORT to listen on; port 0 for any free port. (default: 127.0.0.1:8480)")
        var listen: ListenArgument?
        @Option(help: "Seconds of cooking in one second.") var speed = 1
        @Option(help: "Seconds during which an access token is valid.") var tokenLifetime = 900

        func validate() throws {
            for (name, value) in [("--speed", speed), ("--token-lifetime", tokenLifetime)] {
                guard (1...100_000).contains(value) else {
                    throw ValidationError("\(name): expected a whole number from 1 to 100000, found \(value)")
                }
            }
        }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .info)
            let logger = Logger(label: "epicura-simulator")
            var configuration = EpicuraSimulator.Configuration()
            configuration.host = listen?.host ?? "127.0.0.1"
            configuration.port = listen.map { Int($0.port) } ?? 8_480
            configuration.settings.speed = speed
            configuration.settings.accessTokenLifetime = tokenLifetime
            let simulator = EpicuraSimulator(configuration: configuration)
            try await runUntilSignal([simulator, SimulatorAnnouncement(simulator: simulator)], logger: logger)
        }
    }
}

/// Prints the simulator's port for the process that started it.
private struct SimulatorAnnouncement: Service {
    let simulator: EpicuraSimulator

    func run() async throws {
        // If the simulator cannot listen, its own error ends the group, and this task with it.
        if let port = await simulator.waitUntilListening() {
            Console.printError("EPICURA_SIMULATOR_PORT=\(port)")
        }
        try? await gracefulShutdown()
    }
}
