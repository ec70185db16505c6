/// A service for requests about chats that take effect while a handler runs, in contrast to the context's effects.
public protocol BotChats: Sendable {
    /// Returns the newest stored messages of a chat, own and others', oldest first; at most `limit`. Throws when the
    /// store fails, and for an unknown chat.
    func recentMessages(in chatID: String, limit: Int) async throws -> [RecentMessage]

    /// Shows the chat's members a typing indicator at once, for ten seconds.
    func showTyping(in chatID: String) async
}

/// A message in the account's store.
public struct RecentMessage: Sendable, Hashable {
    public var id: EventID
    public var sender: PublicKey
    public var isOwn: Bool
    public var kind: Kind
    public var content: String
    /// Unix seconds, as claimed by the sender.
    public var createdAt: Int64

    public init(id: EventID, sender: PublicKey, isOwn: Bool, kind: Kind, content: String, createdAt: Int64) {
        self.id = id
        self.sender = sender
        self.isOwn = isOwn
        self.kind = kind
        self.content = content
        self.createdAt = createdAt
    }
}

/// Files that settings name.
public protocol BotFiles: Sendable {
    /// Reads a file; a relative path starts at the configuration's folder. Throws ``BotError/Code/noFile``, also for a
    /// file that is longer than the maximum.
    func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8]
}

extension NoBotServices: BotChats, BotFiles {
    public func recentMessages(in chatID: String, limit: Int) async throws -> [RecentMessage] { [] }

    public func showTyping(in chatID: String) async {}

    public func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        throw BotError(.noFile, "file access is not available here")
    }
}
