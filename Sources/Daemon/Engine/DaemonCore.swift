package import CallMedia
package import Nostr
package import PikaCore

/// The part of an account's core that a daemon uses: ``PikaCore/AppCore``, or a restricted view of it.
package protocol DaemonCore: Sendable {
    var account: PublicKey { get }
    /// Events that are not completed yet, in order; for one reader.
    var events: AsyncStream<CoreEvent> { get }
    /// Inbox id of the newest event in ``events`` so far; 0 if there was none.
    var newestInboxID: Int64 { get async }
    /// The current snapshot.
    var state: AppState { get async }

    /// Enqueues an action and returns at once.
    func dispatch(_ action: AppAction, request: RequestID?)
    /// Enqueues an action whose outcome is also delivered among the ``events``. Returns at once.
    func dispatch(_ action: AppAction, request: RequestID, reportedAs id: ActionID)
    /// Marks an event as handled. Returns at once.
    func complete(_ inboxID: Int64, effects: [HandlerEffect])
    /// Performs all effects in one transaction. The outcome is delivered through ``updates()``.
    func perform(_ effects: [HandlerEffect], request: RequestID)
    /// Returns snapshots and outcomes from now on, starting with the current snapshot.
    func updates() -> AsyncStream<AppUpdate>
    /// Returns a durable value.
    func value(scope: String, key: String) async throws -> [UInt8]?

    func messages(chatID: ChatID, before: StoredMessage.Position?, limit: Int) async throws -> [StoredMessage]
    func media(chatID: ChatID, messageID: EventID, index: Int) async throws -> [UInt8]
    func groupProfiles(chatID: ChatID) async throws -> [AppState.Profile]
    func callSession(callID: String) async -> CallSession?
    func callMedia(callID: String) -> CallMediaSession?

    /// Returns the part of the account's state that the daemon may see.
    func shown(_ state: AppState) -> AppState
}

extension AppCore: DaemonCore {
    package nonisolated func shown(_ state: AppState) -> AppState { state }
}

extension DaemonCore {
    func dispatch(_ action: AppAction) { self.dispatch(action, request: nil) }

    func newestMessages(
        in chatID: ChatID, before: StoredMessage.Position?, limit: Int
    ) async -> Result<[StoredMessage], any Error> {
        do { return .success(try await self.messages(chatID: chatID, before: before, limit: limit)) } catch {
            return .failure(error)
        }
    }

    /// Returns the profiles that members have set in a group, newest first.
    func profiles(in chatID: ChatID) async -> [AppState.Profile] {
        (try? await self.groupProfiles(chatID: chatID)) ?? []
    }

    /// Returns a stored message; searches the messages of its second.
    func message(_ id: EventID, createdAt: UnixTime, in chatID: ChatID) async -> StoredMessage? {
        // checked: arithmetic on times clamps.
        let next = createdAt + 1
        guard next > createdAt, let lowest = try? EventID(bytes: [UInt8](repeating: 0, count: 32)) else { return nil }
        var before = StoredMessage.Position(createdAt: next, id: lowest)
        while let page = try? await self.messages(chatID: chatID, before: before, limit: 20), let last = page.last {
            if let found = page.first(where: { $0.id == id }) { return found }
            guard last.position.createdAt == createdAt else { return nil }
            before = last.position
        }
        return nil
    }
}
