extension StringProtocol where SubSequence == Substring {
    /// The text without leading and trailing white space.
    package var trimmingBlanks: Substring {
        let tail = self.drop(while: \.isWhitespace)
        guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return tail }
        return tail[...last]
    }

    /// As ``trimmingBlanks``, as a string with its own storage.
    package var trimmed: String { String(self.trimmingBlanks) }

    /// As ``trimmed``; nil if nothing is left.
    package var nonBlank: String? {
        let text = self.trimmingBlanks
        return text.isEmpty ? nil : String(text)
    }
}
