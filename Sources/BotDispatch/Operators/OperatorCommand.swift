package import BotKit
package import PikaCore

/// A command of an operator to the runtime from inside a chat: `@name !!pause responder`. In a direct chat the name
/// is optional. Two exclamation marks are reserved for the runtime; bots' commands use other prefixes.
package enum OperatorCommand: Hashable, Sendable {
    case help
    case status
    /// All bots if none is named.
    case pause(bot: String?)
    case resume(bot: String?)
    case leave
    case unknown(String)

    package static let prefix = "!!"

    /// Parses a command; nil if the message is not addressed to the runtime. Does not check the author.
    package init?(_ message: MessageEvent, in scope: EventScope) {
        guard message.kind == .chatMessage else { return nil }
        let words = message.content.split(whereSeparator: \.isWhitespace)
        guard let place = words.prefix(2).firstIndex(where: { $0.hasPrefix(Self.prefix) }) else { return nil }
        // Only the account's name may precede the command; in a group it may otherwise be meant for someone else's
        // bots.
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
