import BotRuntime
import ConvergenceNode
import Logging
import NetworkAddresses
import Nostr
import PikaCore

/// The account of a convergence node: its identity and state are in one folder.
struct LocalNodeAccount: NodeAccount {
    /// How long the start waits for the relays to have the key package and the list that leads to it; the core keeps
    /// trying afterwards.
    private static let publication = Duration.seconds(20)
    private static let pageSize = 500

    private let local: LocalAccount
    let configuration: CoreConfiguration

    var account: PublicKey { self.local.core.account }
    var state: AppState { get async { await self.local.core.state } }
    var events: AsyncStream<CoreEvent> { self.local.events.elements() }

    /// Opens or creates the account in a folder, publishes its relay lists and a key package, and runs it for as long as
    /// the body does.
    static func open(
        _ root: String, relays: [String], logger: Logger,
        _ body: @escaping @Sendable (any NodeAccount) async throws -> Void
    ) async throws {
        let configuration = CoreConfiguration(
            relays: try relays.map { try RelayURL($0) }, invites: .anyone, groupProtocol: .v2)
        let key: HeldKey
        do { key = try StoredIdentity.loadOrCreate(in: root).heldKey(logger: logger) } catch {
            throw NodeFailure("account_home", .environment, "the account cannot be opened: \(error)")
        }
        let settings = LocalAccountSettings(
            key: key, core: configuration, stateDirectory: root, addresses: .unrestricted, logger: logger)
        try await withLocalAccount(settings) { local in
            let account = LocalNodeAccount(local: local, configuration: configuration)
            try await account.publishKeyPackage()
            try await body(account)
        }
    }

    private func publishKeyPackage() async throws {
        _ = try await self.within(Self.publication) {
            _ = try await self.local.publishKeyPackage { $0.isStored && $0.isSecondStored && $0.isAnswered }
            try await self.awaitRelayList()
        }
    }

    /// Waits until a relay has the list of NIP-65, by which other nodes find the key package: it is published only after it
    /// was read.
    private func awaitRelayList() async throws {
        while await self.local.newestEvent(
            of: self.account, kinds: [.relayList], on: self.configuration.relays) == nil
        {
            try await Task.sleep(for: .milliseconds(100))
        }
    }

    func perform(_ action: AppAction) async throws -> ActionOutcome { try await self.local.perform(action) }

    func awaitState(_ condition: @Sendable (AppState) throws -> Bool) async throws -> AppState {
        for await case .fullState(let state) in self.local.core.updates() {
            if try condition(state) { return state }
        }
        throw CancellationError()
    }

    func within<Value: Sendable>(
        _ limit: Duration, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value? {
        do { return try await withDeadline(limit, body) } catch is DeadlineExceeded { return nil }
    }

    func messages(in chatID: ChatID) async throws -> [NodeMessage] {
        var messages: [NodeMessage] = []
        var last: StoredMessage.Position?
        while true {
            let page = try await self.local.core.messages(chatID: chatID, before: last, limit: Self.pageSize)
            messages += page.map { NodeMessage(id: $0.id, kind: $0.rumor.kind, content: $0.rumor.content) }
            guard page.count == Self.pageSize, let oldest = page.last else { return messages }
            last = oldest.position
        }
    }
}
