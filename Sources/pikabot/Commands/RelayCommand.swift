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
                Reads PORT (0 for any free port, default 3334), HOST, DATA_DIR (default ./data), MEDIA_DIR (default \
                ./media), SERVICE_URL (public URL of the files), RELAY_NAME, RELAY_DESCRIPTION, RELAY_PUBKEY, \
                PIKA_RELAY_LOG_EVENTS=1 (logs every client message) and PIKA_RELAY_CALLS=1 (as --calls) from the \
                environment; options take precedence. \
                Prints PIKA_RELAY_PORT=<n> on standard error when it listens.
                """)

        @Option(help: "HOST:PORT to listen on.") var listen: ListenArgument?
        @Option(help: "Directory of the events, or :memory: to store none.") var data: String?
        @Option(help: "Directory of the media files, or :memory: to store none.") var media: String?
        @Option(help: "Maximum number of concurrent connections. (default: 1024)") var connections: Int?
        @Option(help: "Maximum number of concurrent connections per address; 0 for no limit. (default: 256)")
        var addressConnections: Int?
        @Option(
            help: """
                Messages per second and connection, with bursts of twice as many; an address may send four times that \
                over all its connections. 0 for no limit. (default: 100)
                """)
        var rate: Int?
        @Flag(help: "Apply --rate and --address-connections to loopback addresses too.") var limitLoopback = false
        @Flag(help: "Forward the encrypted media of calls at the path /calls.") var calls = false
        @Option(help: "Disk quota of the events, such as 500MiB. (default: 16GiB)") var dataQuota: ByteCountArgument?
        @Option(help: "Disk quota of the media store, such as 500MiB. (default: 16GiB)")
        var mediaQuota: ByteCountArgument?

        func validate() throws {
            if let connections, connections < 1 {
                throw ValidationError("--connections: expected a whole number of at least 1, found \(connections)")
            }
            for (name, value) in [("--rate", rate), ("--address-connections", addressConnections)] {
                guard value.map({ $0 >= 0 }) ?? true else {
                    throw ValidationError("\(name): expected a whole number of at least 0, found \(value ?? 0)")
                }
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
            if calls { configuration.servesCalls = true }
            apply(to: &configuration.limits)
            return configuration
        }

        func apply(to limits: inout RelayLimits) {
            if let connections { limits.connections = connections }
            if let addressConnections {
                limits.connectionsPerAddress = addressConnections == 0 ? nil : addressConnections
            }
            if let rate {
                let perAddress = rate.multipliedReportingOverflow(by: 4)
                limits.messagesPerSecond = rate == 0 ? nil : rate
                limits.messagesPerSecondPerAddress = rate == 0 || perAddress.overflow ? nil : perAddress.partialValue
            }
            limits.limitsLoopback = limitLoopback
            if let dataQuota { limits.databaseBytes = dataQuota.bytes }
            if let mediaQuota { limits.mediaBytes = mediaQuota.bytes }
        }
    }
}

/// Prints the relay's port for the process that started it.
private struct PortAnnouncement: Service {
    let relay: Relay

    func run() async throws {
        // If the relay cannot start, its own error ends the group, and this task with it.
        if let port = try? await relay.waitUntilListening() { Console.printError("PIKA_RELAY_PORT=\(port)") }
        try? await gracefulShutdown()
    }
}
