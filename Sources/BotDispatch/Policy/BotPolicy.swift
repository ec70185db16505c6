public import Nostr
public import PikaCore

/// The policy of one bot of an account: triggers, groups and limits.
public struct BotPolicy: Hashable, Sendable {
    /// The chats in which the bot is active.
    public var groups = GroupPolicy()
    /// The members that may trigger the bot.
    public var triggers = TriggerPolicy.members
    /// The rate limits of the bot.
    public var limits = BotLimits()
    /// The deadline of each handler.
    public var timeout = Duration.seconds(30)

    /// Creates a policy; by default every member may trigger the bot in every chat, without rate limits.
    public init(
        groups: GroupPolicy = GroupPolicy(), triggers: TriggerPolicy = .members, limits: BotLimits = BotLimits(),
        timeout: Duration = .seconds(30)
    ) {
        self.groups = groups
        self.triggers = triggers
        self.limits = limits
        self.timeout = timeout
    }
}

/// The chats in which a bot is active, and the messages of a group that reach its filters.
public struct GroupPolicy: Hashable, Sendable {
    /// The messages of a group that a bot sees; in direct chats it sees all.
    public enum Scope: String, Hashable, Sendable, CaseIterable, Comparable {
        /// All messages; only those that mention the account or belong to a conversation; or none.
        case all, mention, none

        private var breadth: Int {
            switch self {
            case .none: 0
            case .mention: 1
            case .all: 2
            }
        }

        /// Orders by breadth: `none`, `mention`, `all`.
        public static func < (left: Scope, right: Scope) -> Bool { left.breadth < right.breadth }
    }

    /// The scope in chats without an exception.
    public var standard: Scope
    /// Exceptions by chat id or by nostrGroupID.
    public var exceptions: [ChatID: Scope]

    /// Creates a policy; by default the bot sees all messages.
    public init(_ standard: Scope = .all, exceptions: [ChatID: Scope] = [:]) {
        self.standard = standard
        self.exceptions = exceptions
    }

    /// Returns the bot's scope in a chat.
    ///
    /// An exception under a nostrGroupID that several groups claim cannot widen the scope of any of them: the narrowest
    /// applicable scope wins.
    package func scope(of chatID: ChatID, _ chat: AppState.ChatSummary?, in state: AppState) -> Scope {
        if let scope = exceptions[chatID] { return scope }
        guard !exceptions.isEmpty, let chat else { return standard }
        // The current id takes precedence.
        for id in chat.routingIDs.map(ChatID.init(rawValue:)) {
            guard let scope = exceptions[id] else { continue }
            return state.matches([id], chat) ? scope : min(scope, standard)
        }
        return standard
    }
}

/// The members that may trigger a bot, judged by membership and roles in the event's own epoch. A member whose
/// permission is unknown is refused.
public enum TriggerPolicy: Hashable, Sendable {
    /// Every member of the group.
    case members
    /// Admins of the group.
    case admins
    /// These members.
    case allowlist(Set<PublicKey>)
    /// No member: the bot acts only on schedules and on its start.
    case nobody
}

/// The rate limits of a bot; nil means no limit.
public struct BotLimits: Hashable, Sendable {
    /// The maximum rate of triggers by one sender, in all chats together.
    public var perSender: Rate?
    /// The maximum rate of triggers in one group, by all senders together.
    public var perGroup: Rate?
    /// Consecutive messages that two bots may exchange before the loop breaker stops them.
    public var botPair: Int

    /// Creates limits; by default only that of the loop breaker applies.
    public init(perSender: Rate? = nil, perGroup: Rate? = nil, botPair: Int = 3) {
        self.perSender = perSender
        self.perGroup = perGroup
        self.botPair = botPair
    }
}
