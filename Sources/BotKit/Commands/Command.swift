import PikaCore

/// A command that a member wrote in a chat.
public struct Command: Sendable, Hashable {
    /// The command's name in lower case, without the prefix.
    public let name: String
    /// The words after the name; text in double quotes is one word.
    public let arguments: [String]
    /// Everything after the name as written, without surrounding whitespace.
    public let text: String
    /// The message that contains the command.
    public let message: MessageEvent
    /// The declared arguments by name, without those that were omitted.
    public internal(set) var values: [String: CommandValue] = [:]

    /// Parses a message; nil if it is not a command.
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

/// The values of declared arguments; nil if the argument was omitted or is declared with another type.
extension Command {
    /// The value of a word, a choice or the rest.
    public func string(_ name: String) -> String? {
        if case .text(let value)? = values[name] { value } else { nil }
    }

    /// The value of an ``CommandArgument/integer(_:in:)``, within its range.
    public func integer(_ name: String) -> Int? {
        if case .integer(let value)? = values[name] { value } else { nil }
    }

    /// The value of a ``CommandArgument/number(_:)``; finite.
    public func number(_ name: String) -> Double? {
        if case .number(let value)? = values[name] { value } else { nil }
    }

    /// The public key of a ``CommandArgument/user(_:)``.
    public func user(_ name: String) -> PublicKey? {
        if case .user(let value)? = values[name] { value } else { nil }
    }

    /// The value of a ``CommandArgument/duration(_:)``, at most ten years.
    public func duration(_ name: String) -> Duration? {
        if case .duration(let value)? = values[name] { value } else { nil }
    }
}
