/// The words of a line; a piece in double quotes is one word, and a quote that is never closed reaches to the end.
struct CommandWords {
    private(set) var rest: Substring

    init(_ text: Substring) {
        rest = text.trimmingBlanks
    }

    /// The next word, with what follows it left in ``rest``; nil at the end.
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
