import PikaCore

/// A command as somebody wrote it into a chat.
public struct Command: Sendable, Hashable {
    /// In small letters, without the prefix.
    public let name: String
    /// The words after the name; a piece in double quotes is one word.
    public let arguments: [String]
    /// Everything after the name as it was written, without blanks around.
    public let text: String
    public let message: MessageEvent
    /// The declared arguments by name; those that were left out are not there.
    public internal(set) var values: [String: CommandValue] = [:]

    /// Nil for a message that is no command.
    public init?(_ message: MessageEvent, in scope: EventScope, prefix: String) {
        guard message.kind == .chatMessage else { return nil }
        var rest = message.content.trimmingBlanks
        let first = rest.prefix { !$0.isWhitespace }
        if !first.hasPrefix(prefix), scope.isMention(first) {
            rest = rest.dropFirst(first.count).trimmingBlanks
        }
        guard rest.hasPrefix(prefix) else { return nil }
        rest = rest.dropFirst(prefix.count)
        let name = rest.prefix { !$0.isWhitespace }
        guard !name.isEmpty else { return nil }
        let text = rest.dropFirst(name.count).trimmingBlanks
        self.name = name.lowercased()
        self.arguments = CommandWords.words(of: text)
        self.text = String(text)
        self.message = message
    }
}

/// What was given for a declared argument; nil if it was left out, or is declared as something else.
extension Command {
    /// A word, a choice or the rest.
    public func string(_ name: String) -> String? {
        if case .text(let value)? = values[name] { value } else { nil }
    }

    public func integer(_ name: String) -> Int? {
        if case .integer(let value)? = values[name] { value } else { nil }
    }

    public func number(_ name: String) -> Double? {
        if case .number(let value)? = values[name] { value } else { nil }
    }

    public func user(_ name: String) -> PublicKey? {
        if case .user(let value)? = values[name] { value } else { nil }
    }

    public func duration(_ name: String) -> Duration? {
        if case .duration(let value)? = values[name] { value } else { nil }
    }
}
