import BotConfiguration
import ConsolePages
import ConsoleServer
import Errors
import Logging
import Nostr
import ServiceLifecycle
import Supervisor

/// The operator's console of a supervisor: starts with it if the configuration has an address, otherwise when the first
/// login is requested.
///
/// If the console cannot start, the bots keep running; the reason is logged and returned to login requests.
actor ConsoleHost: Service {
    private enum Phase {
        case idle, starting
        case listening(ConsoleServer, ConsoleSettings)
        case failed(ConsoleError)
        case ended
    }

    /// The settings of the configuration; nil if it has no console.
    private let configured: ConsoleSettings?
    private let backend: SupervisorConsole
    private let logger: Logger
    /// Requests to start.
    private nonisolated let requests: AsyncStream<Void>
    private nonisolated let request: AsyncStream<Void>.Continuation
    private var phase = Phase.idle
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(
        _ configuration: ConsoleConfiguration?, of supervisor: Supervisor<ContinuousClock>,
        _ reloader: ConfigurationReloader, _ wakes: ConsoleWakes, _ program: ConsoleProgram
    ) {
        configured = configuration.map { ConsoleSettings($0) }
        backend = SupervisorConsole(
            supervisor: supervisor, reloader: reloader,
            collector: ConsoleCollector(supervisor, reloader, wakes, program), wakes: wakes,
            reports: configuration?.reports.map { LoadReportFolder(path: $0) })
        logger = Logger(label: "console")
        (requests, request) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
        if configuration != nil { request.yield() }
    }

    func run() async throws {
        let (requests, request) = (requests, request)
        await withGracefulShutdownHandler {
            for await _ in requests { await serve() }
        } onGracefulShutdown: {
            // The server ends its responses by itself.
            request.finish()
        }
        set(.ended)
    }

    /// Serves until the program ends, or the console cannot.
    private func serve() async {
        set(.starting)
        let settings = configured ?? Self.standard
        do throws(ConsoleError) {
            let server = try ConsoleServer(settings, backend: backend, logger: logger)
            try await run(server, settings)
        } catch {
            logger.error("Console not started", metadata: ["reason": "\(error.message)"])
            set(.failed(error))
        }
    }

    private func run(_ server: ConsoleServer, _ settings: ConsoleSettings) async throws(ConsoleError) {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { [collector = backend.collector] in await collector.run() }
                group.addTask {
                    try await server.run { port in await self.set(.listening(server, settings.listening(at: port))) }
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        } catch let error as ConsoleError { throw error } catch {
            throw ConsoleError(.notRunning, "the console has ended: \(error)")
        }
    }

    private func set(_ phase: Phase) {
        self.phase = phase
        if case .starting = phase { return }
        for waiter in waiters { waiter.resume() }
        waiters = []
    }

    // MARK: Logins

    /// Answers the command `console` {name, role} of the control socket with `{url}`.
    func link(_ question: ControlValue) async -> ControlReply {
        let name = question["name"]?.string ?? "operator"
        guard let role = ConsoleRole(rawValue: question["role"]?.string ?? "operate") else {
            return .failure(code: "badRequest", message: "\"role\" must be operate or view")
        }
        switch phase {
        case .idle, .failed:
            request.yield()
            phase = .starting
        case .starting, .listening, .ended: break
        }
        if case .starting = phase { await withCheckedContinuation { waiters.append($0) } }
        switch phase {
        case .listening(let server, let settings):
            return .result(["url": .string(settings.origin + server.invite(name, role))])
        case .failed(let error): return .failure(code: error.code.description, message: error.message)
        case .idle, .starting, .ended:
            return .failure(code: ConsoleError.Code.notRunning.description, message: "the program is ending")
        }
    }

    /// The address of a console that no configuration asks for.
    private static var standard: ConsoleSettings {
        ConsoleSettings(ConsoleConfiguration())
    }
}

extension ConsoleSettings {
    init(_ configuration: ConsoleConfiguration) {
        let listen = configuration.listen
        self.init(host: listen.host, port: listen.port, isLoopback: listen.isLoopback)
        hosts = configuration.hosts
        tls = configuration.tls.map { Certificate(certificate: $0.certificate, key: $0.key) }
        behindProxy = configuration.behindProxy
        operators = configuration.operators
        viewers = configuration.viewers
        reports = configuration.reports
    }

    /// The settings with the port that the system has chosen.
    fileprivate func listening(at port: Int) -> ConsoleSettings {
        var settings = self
        settings.port = port
        return settings
    }

    /// The scheme, host and port of links.
    fileprivate var origin: String {
        if let behindProxy { return "https://\(behindProxy)" }
        // An address for all interfaces is not one that a browser can open.
        let isWildcard = host == "0.0.0.0" || host == "::"
        let name = isWildcard ? hosts.first ?? "localhost" : host
        return "\(tls == nil ? "http" : "https")://\(name.contains(":") ? "[\(name)]" : name):\(port)"
    }
}
