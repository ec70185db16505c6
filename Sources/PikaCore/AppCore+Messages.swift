extension AppCore {
    /// Returns at most `limit` stored messages of a chat, own and received, older than `before`, newest first.
    ///
    /// Throws `AppCoreError.Code.unknownChat`.
    package func messages(
        chatID: ChatID, before: StoredMessage.Position? = nil, limit: Int
    ) async throws -> [StoredMessage] {
        try await self.store.messages(in: try self.mediaLookup.groupID(ofChat: chatID), before: before, limit: limit)
    }
}
