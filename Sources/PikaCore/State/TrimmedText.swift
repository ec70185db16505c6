extension StringProtocol where SubSequence == Substring {
    /// Without the white space around it.
    package var trimmingBlanks: Substring {
        let tail = self.drop(while: \.isWhitespace)
        guard let last = tail.lastIndex(where: { !$0.isWhitespace }) else { return tail }
        return tail[...last]
    }

    /// As ``trimmingBlanks``, as a string of its own.
    package var trimmed: String { String(self.trimmingBlanks) }

    /// As ``trimmed``; nil if nothing is left.
    package var nonBlank: String? {
        let text = self.trimmingBlanks
        return text.isEmpty ? nil : String(text)
    }
}
