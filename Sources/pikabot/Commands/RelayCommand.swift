import ArgumentParser
import BotProgram
import EmbeddedRelay
import Foundation
import Logging
import ServiceLifecycle

extension Pikabot {
    struct RelayCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "relay", abstract: "Run a Nostr relay and Blossom media store in the foreground.",
            discussion: """
                Takes PORT (0 for any free one, default 3334), HOST, DATA_DIR (default ./data) and MEDIA_DIR (default \
                ./media) from the environment; options come first. So it does SERVICE_URL (where files are reached), \
                RELAY_NAME, RELAY_DESCRIPTION, RELAY_PUBKEY, and PIKA_RELAY_LOG_EVENTS=1 for a line on everything \
                that clients send. Prints PIKA_RELAY_PORT=<n> on standard \
                error when it listens.
                """)

        @Option(help: "HOST:PORT to listen on.") var listen: ListenArgument?
        @Option(help: "Folder of the events, or :memory: to keep none.") var data: String?
        @Option(help: "Folder of the media store's files, or :memory: to keep none.") var media: String?
        @Option(help: "Open connections at once, over all clients (default 1024).") var connections: Int?

        func validate() throws {
            if let connections, connections < 1 {
                throw ValidationError("--connections: expected a whole number from 1 on, found \(connections)")
            }
        }

        func run() async throws {
            StandardErrorLog.bootstrap(level: .info)
            let logger = Logger(label: "relay")
            let relay = Relay(configuration: try relayConfiguration(), logger: logger)
            try await runUntilSignal([relay, PortAnnouncement(relay: relay)], logger: logger)
        }

        private func relayConfiguration() throws -> RelayConfiguration {
            var environment = ProcessInfo.processInfo.environment
            if let data { environment["DATA_DIR"] = data }
            if let media { environment["MEDIA_DIR"] = media }
            if let listen {
                environment["HOST"] = listen.host
                environment["PORT"] = String(listen.port)
            }
            var configuration = try RelayConfiguration(environment: environment)
            if let connections { configuration.limits.connections = connections }
            return configuration
        }
    }
}

/// Tells whoever started the relay where it listens.
private struct PortAnnouncement: Service {
    let relay: Relay

    func run() async throws {
        // A relay that cannot start ends the group with its own error, which ends the waiting below.
        if let port = try? await relay.waitUntilListening() { Console.printError("PIKA_RELAY_PORT=\(port)") }
        try? await gracefulShutdown()
    }
}
