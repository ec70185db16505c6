public import Nostr
package import PikaCore

/// What one bot of an account may be triggered by, and how much of it.
public struct BotPolicy: Hashable, Sendable {
    public var groups = GroupPolicy()
    public var triggers = TriggerPolicy.members
    public var limits = BotLimits()
    /// How long one handler may take.
    public var timeout = Duration.seconds(30)

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

/// In which chats a bot is at work, and what of a group concerns it before its own filters.
public struct GroupPolicy: Hashable, Sendable {
    /// Which messages of a group a bot sees; chats of two it sees whole.
    public enum Scope: String, Hashable, Sendable, CaseIterable, Comparable {
        case all, mention, none

        private var breadth: Int {
            switch self {
            case .none: 0
            case .mention: 1
            case .all: 2
            }
        }

        public static func < (left: Scope, right: Scope) -> Bool { left.breadth < right.breadth }
    }

    public var standard: Scope
    /// Chats that differ, by chat id or by nostrGroupID.
    public var exceptions: [String: Scope]

    public init(_ standard: Scope = .all, exceptions: [String: Scope] = [:]) {
        self.standard = standard
        self.exceptions = exceptions
    }

    /// What of a chat concerns the bot.
    ///
    /// An exception under a nostrGroupID that several groups claim cannot widen the scope of any of them: the narrowest
    /// of all that could apply does.
    package func scope(of chatID: String, _ chat: AppState.ChatSummary?, in state: AppState) -> Scope {
        if let scope = exceptions[chatID] { return scope }
        guard !exceptions.isEmpty, let chat else { return standard }
        // The current id first.
        for id in chat.routingIDs {
            guard let scope = exceptions[id] else { continue }
            return state.matches([id], chat) ? scope : min(scope, standard)
        }
        return standard
    }
}

/// Who may trigger a bot, judged by members and roles of the event's own epoch. Whoever is not known to be allowed is
/// not allowed.
public enum TriggerPolicy: Hashable, Sendable {
    /// Every member of the group.
    case members
    /// Admins of the group.
    case admins
    /// These, while they are members.
    case allowlist(Set<PublicKey>)
    /// Nobody: the bot only acts on schedules and on its own start.
    case nobody
}

/// How much a bot reacts to; a rate that is nil has no limit.
public struct BotLimits: Hashable, Sendable {
    public var perSender: Rate?
    public var perGroup: Rate?
    /// Messages that two bots may exchange in a row before the loop breaker stops them.
    public var botPair: Int

    public init(perSender: Rate? = nil, perGroup: Rate? = nil, botPair: Int = 3) {
        self.perSender = perSender
        self.perGroup = perGroup
        self.botPair = botPair
    }
}
