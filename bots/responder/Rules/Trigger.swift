import BotKit

/// The trigger of a rule.
enum Trigger: Sendable {
    case message(MessageCondition)
    /// A member joined, left or was removed.
    case membership(Membership)
    /// The account itself joined a group.
    case arrival
    case call(CallSignalKind)
    case schedule(Schedule)
    /// An item of the feed with this name.
    case feed(String)

    enum Membership: String, Sendable, CaseIterable {
        case joined, left, removed
    }

    enum CallSignalKind: String, Sendable, CaseIterable {
        case invite, accept, reject, end, any
    }

    /// Whether there is a message to reply and react to.
    var hasMessage: Bool { if case .message = self { true } else { false } }

    /// The placeholders available to texts of the rule, besides the numbered ones.
    var placeholders: Set<Placeholder> {
        var known: Set<Placeholder> = [.chat, .chatID, .members, .me, .date, .time, .answer]
        switch self {
        case .message(let condition):
            known.formUnion([.sender, .name, .text])
            if condition.command != nil { known.insert(.args) }
            if condition.expression != nil { known.insert(.match) }
            if condition.isReaction { known.insert(.emoji) }
        case .membership: known.formUnion([.sender, .name, .who])
        case .arrival, .call: known.formUnion([.sender, .name])
        case .schedule: break
        case .feed: known.formUnion([.text, .feed])
        }
        return known
    }

    /// The number of numbered placeholders.
    var positionalCount: Int {
        guard case .message(let condition) = self else { return 0 }
        if condition.command != nil { return Placeholder.maximumPositional }
        return condition.expression.map { min($0.groups, Placeholder.maximumPositional) } ?? 0
    }
}

/// The conditions on messages, reactions and other inner events; all that are given must hold.
struct MessageCondition: Sendable {
    struct CommandName: Sendable {
        /// The name and the aliases, in lower case.
        var names: [String]
        var prefix: String
        var help: String
    }

    var kinds: Set<Kind> = [.chatMessage]
    var command: CommandName?
    var mention: Bool?
    /// Whether the chat must be a direct chat (true) or a group (false); nil for both.
    var direct: Bool?
    var expression: Expression?
    /// Required text at the start, anywhere or as the whole content; case is ignored.
    var startsWith: String?
    var contains: String?
    var equals: String?
    /// The emoji of a reaction; nil for any.
    var emoji: String?

    var isReaction: Bool { kinds == [.reaction] }
}
