public import Nostr
public import PikaCore

/// What a daemon needs of an account's core: ``PikaCore/AppCore``, or a view of it that shows and does less.
public protocol DaemonCore: Sendable {
    var account: PublicKey { get }
    /// What happened and is not completed, in order; one reader.
    var events: AsyncStream<CoreEvent> { get }
    /// The newest of ``events`` so far; 0 if there was none.
    var newestInboxID: Int64 { get async }
    /// The newest snapshot, as it is.
    var state: AppState { get async }

    /// Enqueues an action and returns at once.
    func dispatch(_ action: AppAction, request: RequestID?)
    /// Marks an event as handled. Returns at once.
    func complete(_ inboxID: Int64, effects: [HandlerEffect])
    /// Does all of this in one transaction; its outcome comes with ``updates()``.
    func perform(_ effects: [HandlerEffect], request: RequestID)
    /// Snapshots and outcomes from now on, the newest snapshot first.
    func updates() -> AsyncStream<AppUpdate>
    /// A durable value.
    func value(scope: String, key: String) async throws -> [UInt8]?

    func messages(chatID: String, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage]
    func media(chatID: String, messageID: EventID, index: Int) async throws -> [UInt8]
    func groupProfiles(chatID: String) async throws -> [AppState.Profile]
    func callSession(callID: String) async -> CallSession?
    func callMedia(callID: String) -> CallMedia?

    /// What the daemon may see of the account's state.
    func shown(_ state: AppState) -> AppState
}

extension AppCore: DaemonCore {
    public nonisolated func shown(_ state: AppState) -> AppState { state }
}

extension DaemonCore {
    func dispatch(_ action: AppAction) { self.dispatch(action, request: nil) }

    func messages(chatID: String, limit: Int) async throws -> [StoredMessage] {
        try await self.messages(chatID: chatID, before: nil, limit: limit)
    }
}
