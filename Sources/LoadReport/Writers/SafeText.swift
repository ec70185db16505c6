/// Sanitises untrusted text for a terminal or a page.
enum SafeText {
    /// Replaces control characters, line ends and bidirectional controls with the replacement character.
    static func line(_ text: String) -> String { replacing(text) { _ in false } }

    /// Does the same, but keeps line ends and tabs.
    static func lines(_ text: String) -> String { replacing(text) { $0 == "\n" || $0 == "\t" } }

    private static func replacing(_ text: String, keep: (Unicode.Scalar) -> Bool) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            plain.append(keep(scalar) || isPrintable(scalar) ? scalar : "\u{FFFD}")
        }
        return String(plain)
    }

    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: false
        // Not valid in XML.
        case 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}
