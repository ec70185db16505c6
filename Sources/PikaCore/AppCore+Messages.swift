extension AppCore {
    /// Stored messages of a chat, own and others', newest first, older than `before`, at most `limit`.
    ///
    /// Throws ``AppCoreError/Code/unknownChat``.
    public func messages(
        chatID: String, before: StoredMessage.Position? = nil, limit: Int
    ) async throws -> [StoredMessage] {
        try await self.store.messages(in: try self.mediaLookup.groupID(ofChat: chatID), before: before, limit: limit)
    }
}
