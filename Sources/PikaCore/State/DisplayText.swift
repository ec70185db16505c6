/// Sanitizes texts of others for display: limits their length, and removes characters that alter the text around them.
enum DisplayText {
    /// Unicode scalars of a name.
    static let nameLimit = 256
    static let aboutLimit = 4096
    /// The maximum size of an address in bytes; longer ones are invalid.
    static let addressLimit = 2048

    /// Returns a name as one trimmed line; nil if nothing is left.
    static func name(_ text: String?) -> String? { self.clean(text, limit: self.nameLimit, keepsLines: false) }

    /// Returns a peer's or a server's reason as one line of at most `limit` scalars; empty if nothing is left.
    static func reason(_ text: String, limit: Int) -> String {
        self.clean(text, limit: limit, keepsLines: false) ?? ""
    }

    /// Returns a text as trimmed lines; nil if nothing is left.
    static func about(_ text: String?) -> String? { self.clean(text, limit: self.aboutLimit, keepsLines: true) }

    /// Returns an address unchanged; nil if it is empty, too long, or contains white space or hidden characters.
    static func address(_ text: String?) -> String? {
        guard let text, !text.isEmpty, text.utf8.count <= self.addressLimit,
            !text.unicodeScalars.contains(where: { $0.properties.isWhitespace || self.isHidden($0) })
        else { return nil }
        return text
    }

    private static func clean(_ text: String?, limit: Int, keepsLines: Bool) -> String? {
        guard let text else { return nil }
        var shown = String.UnicodeScalarView()
        var count = 0
        // White space is kept only before a visible character, so trailing white space is dropped.
        var gap: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            if scalar.properties.isWhitespace {
                if count > 0 { gap.append(keepsLines && scalar == "\n" ? "\n" : " ") }
            } else if !self.isHidden(scalar) {
                shown.append(contentsOf: gap)
                count += gap.count + 1
                gap = []
                shown.append(scalar)
            }
            if count + gap.count >= limit { break }
        }
        return count == 0 ? nil : String(shown)
    }

    /// Returns whether a scalar is a control character, invisible, or changes the direction of the text around it.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        // Invisible; useful only for names that imitate another's.
        case 0x200B, 0x2060, 0xFEFF: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
