/// What a bot may ask of its chats while a handler is at work, besides what it collects in its context.
public protocol BotChats: Sendable {
    /// The newest stored messages of a chat, own and others', oldest first; `limit` at most. Throws when the store fails,
    /// and for a chat that is not there.
    func recentMessages(in chatID: String, limit: Int) async throws -> [RecentMessage]

    /// Tells the chat's members at once, for ten seconds, that an answer is being written.
    func showTyping(in chatID: String) async
}

/// A message as the account's store has it.
public struct RecentMessage: Sendable, Hashable {
    public var id: EventID
    public var sender: PublicKey
    public var isOwn: Bool
    public var kind: Kind
    public var content: String
    /// Unix seconds, as its sender says.
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
    /// Reads a file; a relative path begins at the configuration's folder. Throws ``BotError/Code/noFile``, also for a
    /// file that is longer.
    func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8]
}

extension NoBotServices: BotChats, BotFiles {
    public func recentMessages(in chatID: String, limit: Int) async throws -> [RecentMessage] { [] }

    public func showTyping(in chatID: String) async {}

    public func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        throw BotError(.noFile, "no files are kept here")
    }
}
