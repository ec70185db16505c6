import BlossomClient
package import BotConfiguration
import BotDispatch
import BotKit
import BotStorage
import CallMedia
import CallTransport
import Errors
import ExternalBots
import FeedRules
import Feeds
package import Logging
import NetworkAddresses
import Nostr
import PikaCore
import ProbeReports
import RelayClient
import ServiceLifecycle
import Storage
import UnixSignals

/// The worker of one account: its store, relays, core and bots, assembled from a configuration.
///
/// It ends at the end of its standard input, on SIGTERM or SIGINT, or with its service group: then it accepts no new
/// events, lets running handlers finish, waits until relays have accepted their messages, and closes everything. Work
/// cut off by the deadline continues after the next start.
package struct Worker: Service {
    let configuration: Configuration
    let account: AccountConfiguration
    let bots: [InstalledBot]
    let registry: BotRegistry
    let programs: [ExternalBot]
    let feeds: [FeedPlan]
    let feedMonitor: FeedMonitor
    let options: WorkerOptions
    let environment: [String: String]
    private let lines: WorkerLines
    let channel: SupervisorChannel
    /// The relays of the current configuration; updated by a reload.
    let relays: ConfiguredRelays
    /// Checks the addresses of relays and media servers that others name.
    let addresses: AddressGuard
    /// What the operator's console shows beyond the state of the core.
    let timelines = ChatTimelines()
    let policies: ShownPolicies
    let logger: Logger

    /// - Parameters:
    ///   - name: The account's name in the configuration.
    ///   - environment: The environment for keys in variables.
    ///   - output: Receives each line for the supervisor (status and events); must not block for long.
    ///
    /// Throws ``WorkerError`` for an unknown account or bot, and for settings that a bot rejects.
    package init(
        account name: String, configuration: Configuration, registry: BotRegistry,
        options: WorkerOptions = WorkerOptions(), environment: [String: String],
        output: @escaping @Sendable (String) -> Void = writeToStandardOutput, logger: Logger
    ) throws(WorkerError) {
        guard let account = configuration.accounts.first(where: { $0.name == name }) else {
            let names = configuration.accounts.map(\.name).joined(separator: ", ")
            throw WorkerError(.unknownAccount, "unknown account \(name); known accounts: \(names)")
        }
        self.configuration = configuration
        self.account = account
        self.options = options
        self.environment = environment
        self.lines = WorkerLines(showsContent: options.reportsTraffic, write: output)
        var logger = logger
        logger[metadataKey: "account.name"] = "\(name)"
        self.logger = logger
        channel = SupervisorChannel(
            limit: max(configuration.supervisor.patience, SupervisorChannel.shortestLimit), write: output,
            logger: logger)
        self.registry = registry
        relays = ConfiguredRelays(configuration.relays)
        addresses = AddressGuard(allowsPrivate: configuration.allowsPrivateAddresses)
        addresses.setConfiguredCallRelay(configuration.calls.relay)
        (bots, programs) = try Self.install(account.bots, from: registry, environment)
        policies = ShownPolicies(bots)
        feeds = try Self.feeds(of: account, environment)
        feedMonitor = FeedMonitor(feeds, clock: SystemClock())
    }

    /// Runs until it is told to end; may be called once. Throws `WorkerError.Code.noKey`, the errors of the store and
    /// of the transport, and `AppCoreError.Code.superseded` when a later copy of the account runs.
    package func run() async throws {
        lines.starting()
        channel.install(requestsWhileStarting)
        try await withThrowingDiscardingTaskGroup { group in
            if options.endsWithStandardInput { group.addTask { await channel.serve() } }
            try await work()
            group.cancelAll()
        }
    }

    private func work() async throws {
        let clock = SystemClock()
        guard let held = try await holdKey(directory, clock: clock) else { return }
        guard let store = try await openStoreWhenFree(of: held.key.publicKey, clock) else { return }
        do {
            try await runWithMedia(held, store, clock)
        } catch {
            // The first error is the relevant one.
            try? store.close()
            throw error
        }
        try store.close()
    }

    private func runWithMedia(_ held: HeldKey, _ store: AccountStore, _ clock: SystemClock) async throws {
        let media = BlossomClient(addresses: addresses, logger: logger)
        do {
            try await run(held, store, media, clock)
        } catch {
            try? await media.shutdown()
            throw error
        }
        try await media.shutdown()
    }

    private func run(
        _ held: HeldKey, _ store: AccountStore, _ media: BlossomClient, _ clock: SystemClock
    ) async throws {
        let pool = try RelayPool(
            signer: held.key.relaySigner(clock), addresses: addresses, crashes: store.crashes, logger: logger)
        let admission = Admission(operators: account.operators)
        let coreConfiguration = Self.coreConfiguration(configuration, account)
        var ports = CorePorts(transport: pool, store: store, clock: clock, logger: logger)
        ports.work = SystemWork()
        ports.media = media
        ports.cache = store.mediaCache(
            configuration.media.cacheBytes.map { MediaCacheLimits(bytes: $0) }, logger: logger)
        ports.callMedia = CallMediaSessions(
            transport: CallRelayTransport(addresses: addresses, clock: clock, logger: logger), clock: clock)
        ports.observer = admission.journal
        let core = AppCore(account: held.key, configuration: coreConfiguration, ports: ports)
        var dispatching = BotDispatcher.Configuration(accountName: account.name)
        dispatching.admission = admission
        dispatching.parallelChats = options.parallelChats
        let databases = StoredDatabases(
            folder: absolute(directory), limits: DatabaseLimits(configuration.databases),
            observe: ResourceMetrics.observer,
            sealer: { [store] in store.valueSealer(file: $0) })
        dispatching.services = botServices(core, held.key, pool, clock)
        dispatching.services.records = StoredRecords(store)
        dispatching.services.databases = databases
        dispatching.services.resources = BotResources(observe: ResourceMetrics.observer)
        let resources = BotResourceService(
            resources: dispatching.services.resources, databases: databases, backup: configuration.databases.backup,
            clock: clock, logger: logger)
        dispatching.inFlightStorage = StoredInFlightStorage(try store.openJournalPage(), logger: logger)
        let dispatcher = BotDispatcher(
            bots: bots, core: core, clock: clock, configuration: dispatching, logger: logger
        ) { [lines, timelines] observation in
            lines.observe(observation)
            timelines.observe(observation)
        }
        let drain = configuration.supervisor.drain
        let canaryResults = CanaryResults()
        let health = WorkerHealth(
            core: core, examination: examination, canaryResults: canaryResults, registry: options.metrics, clock: clock,
            isDispatching: dispatcher.isResponsive, hanging: { dispatcher.hangingHandlers })
        channel.install(requests(to: core, dispatcher, admission, health))
        let coreService = CoreService(core: core, clock: clock, deadline: drain / 2, logger: logger)
        // They end in reverse order: first the handlers, then the core with its outbox, then the connections.
        var services: [ServiceGroupConfiguration.ServiceConfiguration] = []
        if let bunker = held.bunker { services.append(.init(service: bunker)) }
        services += [
            .init(service: pool), .init(service: coreService),
            .init(service: JournalService(journal: admission.journal, core: core, clock: clock)),
        ]
        services += programServices(of: core, coreConfiguration, admission, clock)
        services += [
            .init(service: resources), .init(service: dispatcher),
            .init(service: StatusService(core: core, lines: lines)), .init(service: health),
        ]
        if let feeds = feedService(of: core, clock) { services.append(.init(service: feeds)) }
        if let canaries = canaries(pool, canaryResults, clock) { services.append(.init(service: canaries)) }
        if options.endsWithStandardInput {
            services.append(
                .init(service: EndOfInput(channel: channel), successTerminationBehavior: .gracefullyShutdownGroup))
        }
        do { try await run(services) } catch { throw coreService.failure ?? error }
    }

    /// Runs services until one of them ends, or all are told to.
    func run(_ services: [ServiceGroupConfiguration.ServiceConfiguration]) async throws {
        var group = ServiceGroupConfiguration(
            services: services, gracefulShutdownSignals: options.handlesSignals ? [.sigterm, .sigint] : [],
            logger: logger)
        // End before the deadline at which the supervisor kills the worker.
        group.maximumGracefulShutdownDuration = configuration.supervisor.drain * 9 / 10
        try await ServiceGroup(configuration: group).run()
    }
}

// MARK: Requests of the supervisor

extension Worker {
    /// The requests before the core exists: the worker may be waiting for a signer that has never answered.
    private var requestsWhileStarting: WorkerRequests {
        var requests = WorkerRequests()
        // The same for `reload`: the supervisor may then restart the worker.
        for ask in ["health", "reload"] { requests.on(ask) { _ in .object(["phase": "starting"]) } }
        return requests
    }

    private func requests(
        to core: AppCore, _ dispatcher: BotDispatcher, _ admission: Admission, _ health: WorkerHealth
    ) -> WorkerRequests {
        var requests = WorkerRequests()
        health.answer(&requests)
        requests.on("reload") { try await reload($0, core, dispatcher, admission) }
        requests.on("status") { _ in withFeeds(await withPrograms(await core.statusForOperators())) }
        requests.answerOperators(admission, bots: bots.map(\.label), core) { core.quarantine }
        requests.answerQuarantine(core)
        requests.answerProbes(dispatcher)
        console(core, health, admission).answer(&requests)
        return requests
    }

    private func console(_ core: AppCore, _ health: WorkerHealth, _ admission: Admission) -> WorkerConsole {
        WorkerConsole(
            core: core, health: health, admission: admission, bots: account.bots.map { ($0.name, $0.kind) },
            policies: policies, programs: programs, timelines: timelines,
            showsContents: configuration.observe.console?.contents ?? false)
    }
}

// MARK: Helpers

extension Worker {
    private static func install(
        _ configurations: [BotConfiguration], from registry: BotRegistry, _ environment: [String: String]
    ) throws(WorkerError) -> (bots: [InstalledBot], programs: [ExternalBot]) {
        var installed: [InstalledBot] = []
        var programs: [ExternalBot] = []
        for configuration in configurations {
            let bot: any Bot
            switch configuration.source {
            case .included(let name, let settings): bot = try registry.makeBot(name, settings: settings)
            case .external(let external):
                let program = try Self.program(external, of: configuration, environment)
                programs.append(program)
                bot = program
            }
            installed.append(InstalledBot(bot, label: configuration.name, policy: configuration.policy))
        }
        return (installed, programs)
    }

    /// Returns the services of this machine.
    private func botServices(
        _ core: AppCore, _ key: AccountKey, _ pool: RelayPool, _ clock: SystemClock
    ) -> BotServices {
        let folder = absolute(configuration.folder)
        let path = environment["PATH"] ?? LocalPrograms.standardPath
        var services = BotServices(
            http: HTTPRequests(), programs: LocalPrograms(folder: folder, path: path),
            secrets: ConfiguredSecrets(folder: folder, environment: environment), files: FolderFiles(folder: folder),
            chats: CoreChats(core), metrics: MetricsFacade(), connections: MessageConnections(logger: logger),
            clock: clock)
        services.inbox = CoreInbox(core)
        services.calls = CoreCalls(core, clock: clock)
        services.relayProbes = AccountRelayProbes(
            key: key, pool: pool, relays: relays, folder: folder, clock: clock)
        services.keyPackageProbes = KeyPackageProber(
            transport: pool, home: relays, addresses: addresses, clock: clock, logger: logger)
        return services
    }

    var directory: String { "\(configuration.stateDirectory)/\(account.name)" }
}
