import BlossomClient
import BotDispatch
package import BotKit
import CallMedia
import CallTransport
import Foundation
package import Logging
package import NetworkAddresses
package import Nostr
package import PikaCore
import RelayClient
import Storage

/// An account in this process without bots, driven by a command, a demo guest or a test.
package struct LocalAccount: Sendable {
    package let core: AppCore
    fileprivate let relays: RelayPool
    package let media: RecordedMedia
    /// Events of its groups, kept for the life of the account.
    package let events = Broadcast<CoreEvent>()
    /// Outcomes of its actions.
    fileprivate let outcomes = Broadcast<(request: RequestID, outcome: ActionOutcome)>()
    /// Delivery status of its own messages.
    package let deliveries = Broadcast<(messageID: EventID, delivery: AppState.Delivery)>()

    /// Dispatches an action and waits for its outcome; throws the ``AppCoreError`` of a failed one.
    package func perform(_ action: AppAction) async throws -> ActionOutcome {
        let request = RequestID(rawValue: UUID().uuidString)
        core.dispatch(action, request: request)
        let outcome = try await outcomes.first { $0.request == request ? $0.outcome : nil }
        if case .failed(let error) = outcome { throw error }
        return outcome
    }

    /// Performs an action about a chat as ``perform(_:)`` does; returns the chat's id.
    package func performInChat(_ action: AppAction) async throws -> ChatID {
        guard case .done(let chatID?) = try await perform(action) else {
            throw AppCoreError(.unknownChat, "the action completed without a chat id")
        }
        return chatID
    }

    /// Answers and makes calls.
    package var calls: any BotCalls { CoreCalls(core, clock: SystemClock()) }

    /// Publishes a key package and waits, without a deadline, until `isDone`; throws if every relay has refused it.
    ///
    /// - Parameter isDone: By default, whether a relay has stored it and every relay has answered.
    @discardableResult
    package func publishKeyPackage(
        until isDone: @Sendable (KeyPackageAnnouncement) -> Bool = { $0.isStored && $0.isAnswered }
    ) async throws -> KeyPackageAnnouncement {
        // The action itself completes once the events are queued.
        _ = try await perform(.publishKeyPackage)
        for await case .fullState(let state) in core.updates() {
            if state.keyPackage.isRefused { throw AppCoreError(.refused, state.keyPackage.failure) }
            if isDone(state.keyPackage) { return state.keyPackage }
        }
        throw CancellationError()
    }

    /// Returns the newest stored event of an author and kinds on these relays; nil if they have none.
    package func newestEvent(of author: PublicKey, kinds: [Kind], on addresses: [RelayURL]) async -> Event? {
        let filter = Filter(authors: [author], kinds: kinds, limit: 10)
        let answers = await relays.fetch([filter], from: addresses, timeout: .seconds(10))
        let events = answers.values.flatMap { outcome in
            if case .events(let events) = outcome { events } else { [] as [Event] }
        }
        return events.max { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }
}

/// Settings of an account in this process.
package struct LocalAccountSettings: Sendable {
    package var key: HeldKey
    package var core: CoreConfiguration
    /// Created if missing; also holds the sealing key.
    package var stateDirectory: String
    /// Whether events are kept, even across restarts, until ``AppCore/complete(_:effects:)``.
    package var keepsEvents: Bool
    /// Decides whether to connect to the address of a relay or media server that the configuration does not name.
    package var addresses: AddressGuard
    package var logger: Logger

    package init(
        key: HeldKey, core: CoreConfiguration, stateDirectory: String, keepsEvents: Bool = false,
        addresses: AddressGuard, logger: Logger
    ) {
        self.key = key
        self.core = core
        self.stateDirectory = stateDirectory
        self.keepsEvents = keepsEvents
        self.addresses = addresses
        self.logger = logger
    }
}

/// Opens an account, runs it for as long as `body` does, and closes it.
package func withLocalAccount<Result: Sendable>(
    _ settings: LocalAccountSettings, _ body: @escaping @Sendable (LocalAccount) async throws -> Result
) async throws -> Result {
    let store = try openStore(settings)
    defer { try? store.close() }
    let media = RecordedMedia(BlossomClient(addresses: settings.addresses, logger: settings.logger))
    do {
        let result = try await runLocalAccount(settings, store, media, body)
        try await media.shutdown()
        return result
    } catch {
        try? await media.shutdown()
        throw error
    }
}

private func runLocalAccount<Result: Sendable>(
    _ settings: LocalAccountSettings, _ store: AccountStore, _ media: RecordedMedia,
    _ body: @escaping @Sendable (LocalAccount) async throws -> Result
) async throws -> Result {
    let key = settings.key.key
    let pool = try RelayPool(
        signer: key.relaySigner(SystemClock()), addresses: settings.addresses, crashes: store.crashes,
        logger: settings.logger)
    var ports = CorePorts(transport: pool, store: store, clock: SystemClock(), logger: settings.logger)
    ports.work = SystemWork()
    ports.media = media
    ports.cache = store.mediaCache(.standard, logger: settings.logger)
    settings.addresses.setConfiguredCallRelay(settings.core.calls.moqURL.flatMap { try? RelayURL($0) })
    ports.callMedia = CallMediaSessions(
        transport: CallRelayTransport(addresses: settings.addresses, clock: ports.clock, logger: settings.logger),
        clock: ports.clock)
    let core = AppCore(account: key, configuration: settings.core, ports: ports)
    // The core also names them when it starts, but `body` may download a file before that.
    await pool.setConfiguredRelays(settings.core.homeRelays)
    await media.setConfiguredServers(settings.core.mediaServers)
    let account = LocalAccount(core: core, relays: pool, media: media)
    let updates = core.updates()
    return try await withThrowingTaskGroup(of: Result?.self) { group in
        if let bunker = settings.key.bunker {
            group.addTask {
                try await bunker.run()
                return nil
            }
        }
        group.addTask {
            try await pool.run()
            return nil
        }
        group.addTask {
            try await core.run()
            return nil
        }
        group.addTask {
            for await event in core.events {
                account.events.send(event)
                if !settings.keepsEvents { core.complete(event.inboxID, effects: []) }
            }
            return nil
        }
        group.addTask {
            for await update in updates {
                switch update {
                case .finished(_, let request, let outcome): account.outcomes.send((request, outcome))
                case .delivery(_, _, let messageID, let delivery): account.deliveries.send((messageID, delivery))
                default: break
                }
            }
            return nil
        }
        group.addTask { try await body(account) }
        defer { group.cancelAll() }
        for try await result in group {
            guard let result else { continue }
            await settings.key.bunker?.shutdown()
            await pool.shutdown()
            return result
        }
        throw CancellationError()
    }
}

private func openStore(_ settings: LocalAccountSettings) throws -> AccountStore {
    try FileManager.default.createDirectory(
        atPath: settings.stateDirectory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let sealingKey = try SealingKey.loadOrCreate(file: settings.stateDirectory + "/sealing.key")
    return try AccountStore.open(
        directory: settings.stateDirectory, sealingKey: sealingKey, account: settings.key.key.publicKey)
}
