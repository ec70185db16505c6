/// Where an event happened and as whom the bot is there: what filters look at besides the event itself.
public struct EventScope: Sendable {
    /// Hex of the MLS group id; empty where there is no chat, as for a schedule.
    public let chatID: String
    /// The account that the bot answers through.
    public let account: PublicKey
    /// What people may call it, as in `@greeter`: the account's name in the configuration.
    public let accountName: String
    /// The state when the event was taken up.
    public let snapshot: AppState
    /// Conversations under way between the bot and the person whom the trigger is about, in its chat: their stored
    /// states by the conversations' names.
    package var conversations: [String: [UInt8]] = [:]
    /// Who may operate the account's bots from inside a chat.
    public var operators: Set<PublicKey> = []

    public init(
        chatID: String, account: PublicKey, accountName: String, snapshot: AppState,
        operators: Set<PublicKey> = []
    ) {
        self.chatID = chatID
        self.account = account
        self.accountName = accountName
        self.snapshot = snapshot
        self.operators = operators
    }

    /// The chat as the snapshot shows it; nil if it is not there any more.
    public var chat: AppState.ChatSummary? { snapshot.chatList.first { $0.chatID == chatID } }

    /// Whether the chat is among these: chat ids, or nostrGroupIDs that no other group claims.
    public func isChat(among references: some Collection<String>) -> Bool {
        if references.contains(chatID) { return true }
        return chat.map { snapshot.matches(references, $0) } ?? false
    }

    /// False for a chat of two. A chat that the snapshot does not show counts as a group: strangers may be in it.
    public var isGroup: Bool { chat?.isGroup ?? true }
}
