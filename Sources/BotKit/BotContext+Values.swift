extension BotContext {
    /// A durable value of this bot, as events done with and this handler have left it; nil if there is none.
    ///
    /// The values are one bot's, shared by all of its chats. Chats are handled at the same time, so what several of
    /// them change belongs under a key with the chat's id in it. Throws when the store fails.
    public func value(_ key: String) async throws -> [UInt8]? {
        try await currentValue(key)
    }

    /// Writes a durable value, or deletes it when nil; durable together with the handled event.
    public func setValue(_ value: [UInt8]?, forKey key: String) {
        collect(.putValue(scope: bot, key: key, value: value))
    }

    /// A durable value that ``setText(_:forKey:)`` wrote; nil if there is none, or bytes that are no UTF-8.
    public func text(_ key: String) async throws -> String? {
        try await value(key).flatMap { String(validating: $0, as: UTF8.self) }
    }

    /// Writes a text as a durable value, or deletes it when nil.
    public func setText(_ text: String?, forKey key: String) {
        setValue(text.map { Array($0.utf8) }, forKey: key)
    }
}
