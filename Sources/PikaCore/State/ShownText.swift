/// Texts of others, made fit to be shown: nobody's name takes up a screen, or changes how the text around it reads.
enum ShownText {
    /// Unicode scalars of a name.
    static let nameLimit = 256
    static let aboutLimit = 4096
    /// Bytes of an address; a longer one is none.
    static let addressLimit = 2048

    /// One line, trimmed; nil if nothing is left.
    static func name(_ text: String?) -> String? { self.clean(text, limit: self.nameLimit, keepsLines: false) }

    /// What a peer or a server gives as its reason: one line of at most `limit` scalars; empty if nothing is left.
    static func reason(_ text: String, limit: Int) -> String {
        self.clean(text, limit: limit, keepsLines: false) ?? ""
    }

    /// Several lines, trimmed; nil if nothing is left.
    static func about(_ text: String?) -> String? { self.clean(text, limit: self.aboutLimit, keepsLines: true) }

    /// An address as it came; nil if it is empty or too long, or has anything in it that addresses do not have.
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
        // White space that nothing visible follows is at the end, and dropped.
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

    /// Control characters, and those that turn the direction of the text around them.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        // Invisible, and good for nothing but names that look like another's.
        case 0x200B, 0x2060, 0xFEFF: true
        default: scalar.properties.generalCategory == .control
        }
    }
}
