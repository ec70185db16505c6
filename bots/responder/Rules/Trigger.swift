import BotKit

/// What makes a rule apply.
enum Trigger: Sendable {
    case message(MessageCondition)
    /// Somebody came into the group, went, or was put out.
    case membership(Membership)
    /// The account itself came into a group.
    case arrival
    case call(CallSignalKind)
    case schedule(Schedule)

    enum Membership: String, Sendable, CaseIterable {
        case joined, left, removed
    }

    enum CallSignalKind: String, Sendable, CaseIterable {
        case invite, accept, reject, end, any
    }

    /// Whether there is a message to answer and to react to.
    var hasMessage: Bool { if case .message = self { true } else { false } }

    /// What texts of the rule may have filled in, besides the numbered pieces.
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
        }
        return known
    }

    /// How many numbered pieces there are to fill in.
    var pieces: Int {
        guard case .message(let condition) = self else { return 0 }
        if condition.command != nil { return Placeholder.largestPiece }
        return condition.expression.map { min($0.groups, Placeholder.largestPiece) } ?? 0
    }
}

/// Which messages, reactions and other inner events a rule is about; everything that is given must hold.
struct MessageCondition: Sendable {
    struct CommandName: Sendable {
        /// The name and the aliases, in small letters.
        var names: [String]
        var prefix: String
        var help: String
    }

    var kinds: Set<Kind> = [.chatMessage]
    var command: CommandName?
    var mention: Bool?
    /// Whether the chat is one of two.
    var direct: Bool?
    var expression: Expression?
    /// Capitals make no difference to these three.
    var startsWith: String?
    var contains: String?
    var equals: String?
    /// Of a reaction; nil for all.
    var emoji: String?

    var isReaction: Bool { kinds == [.reaction] }
}
