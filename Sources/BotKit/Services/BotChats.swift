/// A service for reading chats, and for effects that must be visible while the handler still runs.
///
/// The effects of ``BotContext``, in contrast, happen when the handler has returned.
public protocol BotChats: Sendable {
    /// Returns stored messages of a chat, own and others', oldest first: the newest ones, or those right before a message
    /// that an earlier call returned; at most `limit`. Throws if the store fails or the chat is unknown.
    ///
    /// ```swift
    /// let newest = try await context.services.chats.recentMessages(in: chatID, limit: 50)
    /// let older = try await context.services.chats.recentMessages(in: chatID, before: newest.first, limit: 50)
    /// ```
    func recentMessages(in chatID: ChatID, before message: RecentMessage?, limit: Int) async throws -> [RecentMessage]

    /// Shows the chat's members a typing indicator for ten seconds, immediately.
    func showTyping(in chatID: ChatID) async
}

extension BotChats {
    /// Returns the newest stored messages of a chat, oldest first; at most `limit`.
    public func recentMessages(in chatID: ChatID, limit: Int) async throws -> [RecentMessage] {
        try await recentMessages(in: chatID, before: nil, limit: limit)
    }
}

/// A message in the account's store.
public struct RecentMessage: Sendable, Hashable {
    /// The id of the inner event.
    public var id: EventID
    /// The sender's public key.
    public var sender: PublicKey
    /// Whether the account sent it.
    public var isOwn: Bool
    /// The kind of the inner event; `Kind.chatMessage` for ordinary messages.
    public var kind: Kind
    /// The content of the inner event.
    public var content: String
    /// The time of the message, as claimed by the sender.
    public var createdAt: UnixTime
    /// The time that messages are ordered by: ``createdAt``, unless that is far from the message's arrival.
    public var time: UnixTime
    /// The state of the message's delivery to the relays when it was read; `received` for messages of others.
    public var delivery: AppState.Delivery

    /// Creates a message, for tests. Without a time, it has that of `createdAt`; without a delivery state, own messages
    /// are `sent` and others `received`.
    public init(
        id: EventID, sender: PublicKey, isOwn: Bool, kind: Kind, content: String, createdAt: UnixTime,
        time: UnixTime? = nil, delivery: AppState.Delivery? = nil
    ) {
        self.time = time ?? createdAt
        self.delivery = delivery ?? (isOwn ? .sent : .received)
        self.id = id
        self.sender = sender
        self.isOwn = isOwn
        self.kind = kind
        self.content = content
        self.createdAt = createdAt
    }
}

/// Access to files that settings name.
public protocol BotFiles: Sendable {
    /// Reads a regular file; a relative path starts at the configuration's folder. Throws `BotError.Code.noFile`,
    /// including for a file longer than the maximum.
    func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8]
}

extension NoBotServices: BotChats, BotFiles {
    /// No messages.
    public func recentMessages(
        in chatID: ChatID, before message: RecentMessage?, limit: Int
    ) async throws -> [RecentMessage] { [] }

    /// Does nothing.
    public func showTyping(in chatID: ChatID) async {}

    /// Throws `BotError.Code.noFile`.
    public func read(_ path: String, maximumBytes: Int) async throws(BotError) -> [UInt8] {
        throw BotError(.noFile, "file access is not available here")
    }
}
