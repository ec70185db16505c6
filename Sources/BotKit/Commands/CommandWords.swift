/// The words of a line. Text in double quotes is one word; an unclosed quote extends to the end.
struct CommandWords {
    private(set) var rest: Substring

    init(_ text: Substring) {
        rest = text.trimmingBlanks
    }

    /// Returns the next word and leaves the remaining text in ``rest``; nil at the end.
    mutating func next() -> String? {
        guard !rest.isEmpty else { return nil }
        var word = ""
        var isQuoted = false
        var end = rest.startIndex
        while end < rest.endIndex, isQuoted || !rest[end].isWhitespace {
            if rest[end] == "\"" { isQuoted.toggle() } else { word.append(rest[end]) }
            end = rest.index(after: end)
        }
        rest = rest[end...].trimmingBlanks
        return word
    }

    static func words(of text: Substring) -> [String] {
        var words = CommandWords(text)
        var found: [String] = []
        while let word = words.next() { found.append(word) }
        return found
    }
}
