package import ConsolePages
import Hummingbird
import HummingbirdCore
import HummingbirdTLS
package import Logging
import NIOCore
import NIOSSL
import ServiceLifecycle
import Telemetry

/// The operator's console on one address, over HTTP or HTTPS.
package struct ConsoleServer: Sendable {
    /// Connections at a time; others wait.
    private static let maximumConnections = 128
    /// Seconds without a byte after which a connection is closed. Live streams write more often.
    private static let idleSeconds: Int64 = 60
    /// Time for responses in progress at a shutdown.
    private static let farewell = Duration.seconds(2)

    private let settings: ConsoleSettings
    private let access: ConsoleAccess
    private let responder: ConsoleResponder
    private let builder: HTTPServerBuilder
    private let logger: Logger

    /// - Parameter clock: the clocks of sessions and limits.
    /// - Throws: `ConsoleError.Code.unprotected` for an address that other machines can reach without TLS, and
    ///   `ConsoleError.Code.certificate`.
    package init(
        _ settings: ConsoleSettings, backend: any ConsoleBackend, clock: ConsoleClock = .system, logger: Logger
    ) throws(ConsoleError) {
        guard settings.isProtected else {
            throw ConsoleError(
                .unprotected,
                "other machines can reach \(settings.host); configure tls, or behindProxy with the proxy's host name")
        }
        self.settings = settings
        self.logger = logger
        access = ConsoleAccess(clock: clock)
        responder = ConsoleResponder(settings, backend: backend, access: access, clock: clock, logger: logger)
        let plain = HTTPServerBuilder.http1(
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [RequestDeadline()], idleTimeout: .seconds(Self.idleSeconds),
                httpDecoderConfiguration: HTTP1Channel.Configuration.DecoderConfiguration(
                    maxHeaderFieldSize: 16 * 1_024, maxHeaderListSize: 32 * 1_024, maxHeaderFieldCount: 100)))
        guard let files = settings.tls else {
            builder = plain
            return
        }
        do {
            let chain = try NIOSSLCertificate.fromPEMFile(files.certificate)
            let key = try NIOSSLPrivateKey(file: files.key, format: .pem)
            var configuration = TLSConfiguration.makeServerConfiguration(
                certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
            configuration.minimumTLSVersion = .tlsv12
            // Checks that the key belongs to the certificate.
            _ = try NIOSSLContext(configuration: configuration)
            builder = try .tls(plain, tlsConfiguration: configuration)
        } catch {
            throw ConsoleError(
                .certificate, "the certificate \(files.certificate) with its key \(files.key) cannot be used: \(error)")
        }
    }

    /// Creates a one-time link for a viewer; returns its path with the token. It is valid for five minutes.
    ///
    /// - Parameter name: the name under which actions are logged.
    package func invite(_ name: String, _ role: ConsoleRole) -> String {
        ConsolePath.login.with(["token": access.invite(name, role)]).text
    }

    /// Serves until a graceful shutdown or cancellation. Throws `ConsoleError.Code.bindFailed`.
    ///
    /// - Parameter listening: called with the port once connections are accepted.
    package func run(listening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }) async throws {
        var quiet = logger
        quiet.logLevel = .warning
        let application = Application(
            responder: ConsoleHandler(responder: responder), server: builder,
            configuration: ApplicationConfiguration(
                address: .hostname(settings.host, port: settings.port), backlog: 64,
                availableConnectionsDelegate: MaximumAvailableConnections(Self.maximumConnections)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? settings.port
                logger.info("Console listening", metadata: ["host": "\(settings.host)", "port": "\(port)"])
                await listening(port)
            },
            logger: quiet)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await serve(application) }
            group.addTask {
                try await gracefulShutdown()
                // A client that reads nothing must not hold up the end of the program.
                try await Task.sleep(for: Self.farewell)
            }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func serve(_ application: Application<ConsoleHandler>) async throws {
        do { try await application.run() } catch let error as IOError {
            throw ConsoleError(
                .bindFailed,
                "\(settings.host):\(settings.port) cannot be bound (\(error)); check that the address belongs to this machine and is free"
            )
        }
    }
}
