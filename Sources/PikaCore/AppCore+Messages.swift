package import Nostr

extension AppCore {
    /// Returns at most `limit` stored messages of a chat, own and received, older than `before`, newest first.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func messages(
        chatID: ChatID, before: StoredMessage.Position? = nil, limit: Int
    ) async throws -> [StoredMessage] {
        try await self.store.messages(in: try self.mediaLookup.groupID(ofChat: chatID), before: before, limit: limit)
    }

    /// Returns a stored message of a chat, own or received; nil if it is not stored.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func storedMessage(_ id: EventID, in chatID: ChatID) async throws -> StoredMessage? {
        try await self.store.message(in: try self.mediaLookup.groupID(ofChat: chatID), id: id)
    }

    /// Returns the delivery states of stored messages of one chat, in the same order.
    ///
    /// Throws `CancellationError` if the core ends first. ``run()`` must be running.
    package nonisolated func deliveries(of messages: [StoredMessage]) async throws -> [AppState.Delivery] {
        // Only the outbox knows about own messages.
        guard messages.contains(where: \.isOwn) else { return messages.map { _ in .received } }
        guard let states = await self.deliveryQueries.ask(self.mailbox, { .queryDeliveries($0, messages) }) else {
            throw CancellationError()
        }
        return states
    }
}
