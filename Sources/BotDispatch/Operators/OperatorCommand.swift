package import BotKit
package import PikaCore

/// What operators tell the runtime from inside a chat: `@name !!pause responder`. In a chat of two the name may be left
/// out. Bots' commands begin with other signs: two exclamation marks are the runtime's.
package enum OperatorCommand: Hashable, Sendable {
    case help
    case status
    /// All bots when none is named.
    case pause(bot: String?)
    case resume(bot: String?)
    case leave
    case unknown(String)

    package static let prefix = "!!"

    /// Nil for what is not addressed to the runtime, whoever wrote it.
    package init?(_ message: MessageEvent, in scope: EventScope) {
        guard message.kind == .chatMessage else { return nil }
        let words = message.content.split(whereSeparator: \.isWhitespace)
        guard let place = words.prefix(2).firstIndex(where: { $0.hasPrefix(Self.prefix) }) else { return nil }
        // In front of it only the account's name makes sense; in a group somebody else's bots may be meant.
        if place == 1 || scope.isGroup {
            guard EventFilter.mention.matches(message, in: scope) else { return nil }
        }
        let arguments = words.dropFirst(place + 1).map { $0.lowercased() }
        switch words[place].dropFirst(Self.prefix.count).lowercased() {
        case "help": self = .help
        case "status": self = .status
        case "pause": self = .pause(bot: arguments.first)
        case "resume": self = .resume(bot: arguments.first)
        case "leave": self = .leave
        case let other: self = .unknown(other)
        }
    }
}
