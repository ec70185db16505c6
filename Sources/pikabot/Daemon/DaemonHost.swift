import BlossomClient
import BotRuntime
import CallMedia
import CallTransport
import Daemon
import Foundation
import Logging
import NetworkAddresses
import Nostr
import PikaCore
import RelayClient
import ServiceLifecycle
import Storage
import Synchronization
import UnixSignals

/// One account with a daemon: its store, relays, core, engine, standard streams and socket.
struct DaemonHost {
    static let defaultRelay = "ws://127.0.0.1:18080"
    /// The time that the shutdown waits for relays to accept queued events.
    private static let drain = Duration.seconds(10)

    /// The folder of the account's identity and state.
    private let stateDirectory: String
    private let accounts: DirectoryAccounts
    private let options: DaemonOptions
    private let core: CoreConfiguration
    private let waitsForRelay: Bool
    private let allowsPrivateAddresses: Bool
    private let logger: Logger

    init(
        stateDirectory: String, accounts: AccountDirectory, relays: [RelayURL], allowsPrivateAddresses: Bool,
        options: DaemonOptions, environment: [String: String], logger: Logger
    ) throws {
        self.stateDirectory = stateDirectory
        self.options = options
        self.allowsPrivateAddresses = allowsPrivateAddresses
        self.logger = logger
        core = CoreConfiguration(
            relays: relays.isEmpty ? [try RelayURL(Self.defaultRelay)] : relays, invites: .nobody,
            publishesKeyPackage: false, detectsCopies: true, mediaServers: try ClientOptions.mediaServers(),
            calls: .daemon)
        self.accounts = DirectoryAccounts(
            accounts, login: AccountLogin(accounts: accounts, logger: logger), environment: environment)
        let skips = environment["PIKACHAT_SKIP_RELAY_READY_CHECK"]?.trimmingCharacters(in: .whitespaces).lowercased()
        waitsForRelay = !["1", "true", "yes", "on"].contains(skips ?? "")
    }

    func run() async throws {
        let account = try await runAccount()
        do { try await accounts.performOwnLogout(of: account) } catch {
            logger.error("the logout has failed", metadata: ["reason": "\(error)"])
            throw error
        }
    }

    /// Runs the account until it is told to end, closes it, and returns it.
    private func runAccount() async throws -> PublicKey {
        if options.allowed.isEmpty {
            logger.warning("no --allow-pubkey was given: anyone may invite this account and send it messages")
        }
        // As the pikachat daemon does.
        let key = try StoredIdentity.loadOrCreate(in: stateDirectory).heldKey(logger: logger)
        let store = try openStore(of: key.key.publicKey)
        defer { try? store.close() }
        let addresses = AddressGuard(allowsPrivate: allowsPrivateAddresses)
        let media = BlossomClient(addresses: addresses, logger: logger)
        do {
            try await run(key, store, media, addresses)
        } catch {
            try? await media.shutdown()
            throw error
        }
        try await media.shutdown()
        return key.key.publicKey
    }

    private func run(
        _ held: HeldKey, _ store: AccountStore, _ media: BlossomClient, _ addresses: AddressGuard
    ) async throws {
        let clock = SystemClock()
        let pool = try RelayPool(
            signer: held.key.relaySigner(clock), addresses: addresses, crashes: store.crashes, logger: logger)
        var ports = CorePorts(transport: pool, store: store, clock: clock, logger: logger)
        ports.work = SystemWork()
        ports.media = media
        ports.cache = store.mediaCache(.standard, logger: logger)
        ports.callMedia = CallMediaSessions(
            transport: CallRelayTransport(addresses: addresses, clock: clock, logger: logger), clock: clock)
        let core = AppCore(account: held.key, configuration: self.core, ports: ports)
        let standard = DaemonClient(.standard)
        let engine = DaemonEngine(core: core, settings: settings, standard: standard, clock: clock, logger: logger)
        let streams: any Service =
            if let command = options.exec {
                ChildStreams(engine: engine, client: standard, command: command, logger: logger)
            } else {
                StandardStreams(engine: engine, client: standard)
            }
        let socket = SocketServer(
            engine: engine, path: DaemonSocketPath.path(stateDirectory: stateDirectory), logger: logger)
        // Services stop in reverse order. The engine is first, so that no more commands run and nothing waits for a
        // slow client. Then the streams write the queued lines, and the core drains its outbox.
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let coreService = CoreService(core: core, clock: clock, deadline: Self.drain, logger: logger)
        let engineService = EngineService(engine: engine, end: end)
        var services: [any Service] = [pool, coreService, streams, socket, engineService]
        if let bunker = held.bunker { services.insert(bunker, at: 0) }
        let group = ServiceGroup(
            services: services, gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                for await _ in ended {}
                await group.triggerGracefulShutdown()
            }
            defer { tasks.cancelAll() }
            do { try await group.run() } catch {
                // The failed service has the reason; the group's error only names the one that ended first.
                throw coreService.failure ?? engineService.failure ?? error
            }
            if let failure = coreService.failure ?? engineService.failure { throw failure }
        }
    }

    private var settings: DaemonSettings {
        let file = TokenFile(stateDirectory: stateDirectory)
        let logger = logger
        var settings = DaemonSettings(
            core: core, allowed: Set(options.allowed.map(\.key)), acceptsWelcomes: options.acceptsWelcomes,
            relayPatience: waitsForRelay ? 90_000 : nil, requiresToken: options.requiresToken,
            tokens: {
                do { return try file.tokens() } catch {
                    logger.error("no token is valid", metadata: ["reason": "\(error)"])
                    return []
                }
            }, mediaDirectory: stateDirectory + "/media")
        settings.accounts = accounts
        return settings
    }

    private func openStore(of account: PublicKey) throws -> AccountStore {
        let sealingKey = try SealingKey.loadOrCreate(file: stateDirectory + "/sealing.key")
        return try AccountStore.open(directory: stateDirectory, sealingKey: sealingKey, account: account)
    }
}

/// Runs the engine until `shutdown` or until the other services end.
///
/// A service group treats a service that returns during the shutdown of others as failed. So this one signals its end,
/// and waits for its own turn to shut down.
private final class EngineService: Service {
    private let engine: DaemonEngine
    private let end: AsyncStream<Never>.Continuation
    private let noted = Mutex<(any Error)?>(nil)

    init(engine: DaemonEngine, end: AsyncStream<Never>.Continuation) {
        self.engine = engine
        self.end = end
    }

    /// The reason why the engine ended, unless it was told to.
    var failure: (any Error)? { noted.withLock { $0 } }

    func run() async throws {
        let engine = engine
        await withGracefulShutdownHandler {
            do { try await engine.run() } catch { noted.withLock { $0 = error } }
        } onGracefulShutdown: {
            engine.end()
        }
        end.finish()
        try? await gracefulShutdown()
    }
}
