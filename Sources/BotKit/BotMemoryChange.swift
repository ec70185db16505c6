/// What a handler does to its bot's timers and conversations; durable together with what it runs for.
package enum BotMemoryChange: Sendable, Hashable {
    case setTimer(TimerRun)
    case cancelTimer(TimerName)
    /// With the state as the conversation encodes it, in UTF-8.
    case setConversation(ConversationName, state: [UInt8])
    case endConversation(ConversationName)
}

/// Tells a timer from the bot's others.
package struct TimerName: Sendable, Hashable {
    package let chatID: String
    package let name: String
    package let key: String

    package init(chatID: String, name: String, key: String) {
        self.chatID = chatID
        self.name = name
        self.key = key
    }
}

/// Tells a conversation from the bot's others.
package struct ConversationName: Sendable, Hashable {
    package let chatID: String
    /// Hex of the key of whom it is with.
    package let person: String
    package let name: String

    package init(chatID: String, person: String, name: String) {
        self.chatID = chatID
        self.person = person
        self.name = name
    }
}

extension ConversationName {
    /// The timer of a conversation has its name behind this, and the person as its key.
    static let timerPrefix = "conversation "
}

extension TimerRun {
    package var timer: TimerName { TimerName(chatID: chatID, name: name, key: key) }

    /// The conversation whose time it limits; nil if it is a handler's own.
    package var conversation: ConversationName? {
        guard name.hasPrefix(ConversationName.timerPrefix) else { return nil }
        return ConversationName(
            chatID: chatID, person: key, name: String(name.dropFirst(ConversationName.timerPrefix.count)))
    }
}
