extension BotContext {
    /// Returns a durable value of this bot, including changes by events already handled and by this handler; nil if
    /// there is none.
    ///
    /// All chats of a bot share its values. Chats are handled concurrently, so a value that several chats change needs
    /// a key that contains the chat's id. Throws when the store fails.
    public func value(_ key: String) async throws -> [UInt8]? {
        try await currentValue(key)
    }

    /// Writes a durable value, or deletes it when nil. The change is committed together with the handled event.
    public func setValue(_ value: [UInt8]?, forKey key: String) {
        collect(.putValue(scope: bot, key: key, value: value))
    }

    /// Returns a durable value that ``setText(_:forKey:)`` wrote; nil if there is none or it is not valid UTF-8.
    public func text(_ key: String) async throws -> String? {
        try await value(key).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Writes a string as a durable value, or deletes it when nil.
    public func setText(_ text: String?, forKey key: String) {
        setValue(text.map { Array($0.utf8) }, forKey: key)
    }
}
