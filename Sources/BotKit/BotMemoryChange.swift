/// A change that a handler makes to its bot's timers or conversations, committed together with the handler's trigger.
package enum BotMemoryChange: Sendable, Hashable {
    case setTimer(TimerRun)
    case cancelTimer(TimerName)
    /// Carries the state as the conversation encodes it, in UTF-8.
    case setConversation(ConversationName, state: [UInt8])
    case endConversation(ConversationName)
}

/// The key of a timer among those of a bot.
package struct TimerName: Sendable, Hashable {
    package let chatID: ChatID
    package let name: String
    package let key: String

    package init(chatID: ChatID, name: String, key: String) {
        self.chatID = chatID
        self.name = name
        self.key = key
    }
}

/// The key of a conversation among those of a bot.
package struct ConversationName: Sendable, Hashable {
    package let chatID: ChatID
    /// Hex of the other person's public key.
    package let person: String
    package let name: String

    package init(chatID: ChatID, person: String, name: String) {
        self.chatID = chatID
        self.person = person
        self.name = name
    }
}

extension ConversationName {
    /// The prefix of a conversation's timer, followed by the conversation's name; the timer's key is the person.
    static let timerPrefix = "conversation "
}

extension TimerRun {
    package var timer: TimerName { TimerName(chatID: chatID, name: name, key: key) }

    /// The conversation that this timer limits; nil for a timer that a handler has set.
    package var conversation: ConversationName? {
        guard name.hasPrefix(ConversationName.timerPrefix) else { return nil }
        return ConversationName(
            chatID: chatID, person: key, name: String(name.dropFirst(ConversationName.timerPrefix.count)))
    }
}
