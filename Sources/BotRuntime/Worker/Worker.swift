import BlossomClient
import BotKit
public import Logging
import Nostr
import PikaCore
import RelayClient
public import ServiceLifecycle
import Storage
import UnixSignals

/// One account at work: its store, its relays, its core and its bots, put together as a configuration says.
///
/// It ends when its standard input does, on SIGTERM or SIGINT, or with the service group it runs in: then it takes no
/// new events, lets running handlers finish, waits until relays have what they asked for, and closes everything.
/// Whatever is cut off by the deadline goes on after the next start.
public struct Worker: Service {
    private let configuration: Configuration
    private let account: AccountConfiguration
    private let bots: [InstalledBot]
    private let options: WorkerOptions
    private let environment: [String: String]
    private let lines: WorkerLines
    private let logger: Logger

    /// - Parameters:
    ///   - name: The account's name in the configuration.
    ///   - environment: Where keys may be kept.
    ///   - output: Takes each line for the supervisor (status and events); must not block for long.
    ///
    /// Throws ``WorkerError`` for an unknown account or bot, and settings that a bot refuses.
    public init(
        account name: String, configuration: Configuration, registry: BotRegistry,
        options: WorkerOptions = WorkerOptions(), environment: [String: String],
        output: @escaping @Sendable (String) -> Void = writeToStandardOutput, logger: Logger
    ) throws(WorkerError) {
        guard let account = configuration.accounts.first(where: { $0.name == name }) else {
            let names = configuration.accounts.map(\.name).joined(separator: ", ")
            throw WorkerError(.unknownAccount, "no account is named \(name); there are \(names)")
        }
        self.configuration = configuration
        self.account = account
        self.options = options
        self.environment = environment
        self.lines = WorkerLines(showsContent: options.reportsTraffic, write: output)
        var logger = logger
        logger[metadataKey: "account.name"] = "\(name)"
        self.logger = logger
        bots = try Self.install(account.bots, from: registry)
    }

    /// Works until it is told to end; may be called once. Throws ``WorkerError/Code/noKey``, the errors of the store,
    /// those of the transport, and ``PikaCore/AppCoreError/Code/superseded`` when a later copy of the account runs.
    public func run() async throws {
        lines.starting()
        let keys = try loadKeys()
        let store = try openStore(of: keys)
        do {
            try await runWithMedia(keys, store)
        } catch {
            // The first error is the one to know.
            try? store.close()
            throw error
        }
        try store.close()
    }

    private func runWithMedia(_ keys: KeyPair, _ store: AccountStore) async throws {
        let media = BlossomClient(logger: logger)
        do {
            try await run(keys, store, media)
        } catch {
            try? await media.shutdown()
            throw error
        }
        try await media.shutdown()
    }

    private func run(_ keys: KeyPair, _ store: AccountStore, _ media: BlossomClient) async throws {
        let clock = SystemClock()
        let pool = try RelayPool(signer: signer(of: keys, clock), logger: logger)
        let core = AppCore(
            account: keys, configuration: coreConfiguration, transport: pool, store: store, media: media,
            clock: clock, logger: logger)
        let dispatcher = BotDispatcher(
            bots: bots, core: core, clock: clock,
            configuration: BotDispatcher.Configuration(
                accountName: account.name, handlerTimeout: options.handlerTimeout,
                parallelChats: options.parallelChats),
            logger: logger, observe: lines.observe)
        let drain = configuration.supervisor.drain
        let coreService = CoreService(core: core, clock: clock, deadline: drain / 2, logger: logger)
        // They end in the opposite order: first the handlers, then the core with its outbox, then the connections.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = [
            .init(service: pool), .init(service: coreService), .init(service: dispatcher),
            .init(service: StatusService(core: core, lines: lines)),
        ]
        if options.endsWithStandardInput {
            services.append(.init(service: EndOfInput(), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: options.handlesSignals ? [.sigterm, .sigint] : [],
            logger: logger)
        // Ahead of the supervisor, which kills at its deadline.
        group.maximumGracefulShutdownDuration = drain * 9 / 10
        try await ServiceGroup(configuration: group).run()
    }
}

// MARK: Parts

extension Worker {
    private static func install(
        _ configurations: [BotConfiguration], from registry: BotRegistry
    ) throws(WorkerError) -> [InstalledBot] {
        var places: [String: Int] = [:]
        var installed: [InstalledBot] = []
        for configuration in configurations {
            let bot = try registry.makeBot(configuration.use, settings: configuration.settings)
            let place = places[configuration.use, default: 0] + 1
            places[configuration.use] = place
            let label = place == 1 ? configuration.use : "\(configuration.use)#\(place)"
            installed.append(InstalledBot(bot, label: label, groups: configuration.groups))
        }
        return installed
    }

    private func loadKeys() throws(WorkerError) -> KeyPair {
        do { return try account.key.loadKeyPair(environment: environment) } catch {
            throw WorkerError(.noKey, "account \(account.name) has no key", cause: error)
        }
    }

    private func openStore(of keys: KeyPair) throws -> AccountStore {
        let directory = "\(configuration.stateDirectory)/\(account.name)"
        if options.sealingKeyFile == nil { try PrivateFolder.create(directory) }
        let key = try SealingKey.loadOrCreate(file: options.sealingKeyFile ?? "\(directory)/sealing.key")
        return try AccountStore.open(directory: directory, sealingKey: key, account: keys.publicKey)
    }

    private var coreConfiguration: CoreConfiguration {
        let invites: CoreConfiguration.InvitePolicy =
            switch account.invites {
            case .anyone: .anyone
            case .nobody: .nobody
            case .allowlist(let keys): .only(keys)
            }
        return CoreConfiguration(
            relays: configuration.relays, invites: invites, selfUpdate: account.selfUpdate,
            retention: account.retention, detectsCopies: true, mediaServers: configuration.media.servers)
    }

    private func signer(of keys: KeyPair, _ clock: SystemClock) -> RelayPool.Signer {
        { challenge, relay in
            var generator = SystemRandomNumberGenerator()
            return NIP42.authenticationEvent(
                challenge: challenge, relay: relay, by: keys, now: clock.now, using: &generator)
        }
    }
}
