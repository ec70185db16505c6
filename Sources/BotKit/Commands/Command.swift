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

    /// Nil for a message that is no command.
    init?(_ message: MessageEvent, in scope: EventScope, prefix: String) {
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
        self.arguments = Self.words(of: text)
        self.text = String(text)
        self.message = message
    }

    /// A quote that is never closed reaches to the end.
    private static func words(of text: Substring) -> [String] {
        var words: [String] = []
        var word: String?
        var isQuoted = false
        for character in text {
            switch character {
            case "\"":
                isQuoted.toggle()
                word = word ?? ""
            case _ where character.isWhitespace && !isQuoted:
                if let finished = word { words.append(finished) }
                word = nil
            default:
                word = (word ?? "") + String(character)
            }
        }
        if let finished = word { words.append(finished) }
        return words
    }
}
