extension BotContext {
    /// Returns a durable value of this bot, including changes by events already handled and by this handler; nil if
    /// there is none. Throws if the store fails.
    ///
    /// All chats of a bot share its values. Chats are handled concurrently, so include the chat's id in the key of a
    /// value that handlers of several chats change.
    public func value(_ key: String) async throws -> [UInt8]? {
        try await currentValue(key)
    }

    /// Writes a durable value, or deletes it if nil. The change is committed together with the handled event.
    public func setValue(_ value: [UInt8]?, forKey key: String) {
        collect(.putValue(scope: bot, key: key, value: value))
    }

    /// Returns a durable value as a string; nil if absent or not valid UTF-8. Throws if the store fails.
    public func text(_ key: String) async throws -> String? {
        try await value(key).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Writes a string as a durable value in UTF-8, or deletes it if nil. The change is committed together with the
    /// handled event.
    public func setText(_ text: String?, forKey key: String) {
        setValue(text.map { Array($0.utf8) }, forKey: key)
    }
}
