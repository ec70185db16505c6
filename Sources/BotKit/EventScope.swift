/// The chat and the account that an event belongs to; filters receive it together with the event.
public struct EventScope: Sendable {
    /// The id of the chat; empty if there is none, as for a schedule or a feed.
    public let chatID: ChatID
    /// The account that the bot runs as.
    public let account: PublicKey
    /// The account's name in the configuration, by which people mention it, as in `@greeter`.
    public let accountName: String
    /// The state when processing of the event started.
    public let snapshot: AppState
    /// The active conversations between the bot and the trigger's author in its chat: stored states by conversation
    /// name.
    package var conversations: [String: [UInt8]] = [:]
    /// The public keys of the users that may operate the account's bots from inside a chat.
    public var operators: Set<PublicKey> = []

    /// Creates a scope, for tests of filters and handlers.
    public init(
        chatID: ChatID, account: PublicKey, accountName: String, snapshot: AppState,
        operators: Set<PublicKey> = []
    ) {
        self.chatID = chatID
        self.account = account
        self.accountName = accountName
        self.snapshot = snapshot
        self.operators = operators
    }

    /// The chat in the snapshot; nil if the snapshot no longer contains it.
    public var chat: AppState.ChatSummary? { snapshot.chatList.first { $0.chatID == chatID } }

    /// Returns whether the chat is among these: chat ids, or nostrGroupIDs that no other group claims.
    public func isChat(among references: some Collection<ChatID>) -> Bool {
        if references.contains(chatID) { return true }
        return chat.map { snapshot.matches(references, $0) } ?? false
    }

    /// Whether the chat is a group: it has more than two members, or two and a name other than `DM`. A chat that is
    /// missing from the snapshot counts as a group, since strangers may be in it.
    public var isGroup: Bool { chat?.isGroup ?? true }
}
