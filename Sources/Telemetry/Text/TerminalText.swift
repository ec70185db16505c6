/// Escaping of untrusted text, such as names, relays' reasons and error texts, for terminals and logs.
///
/// Control characters, line separators and invisible format characters, including bidi controls, are escaped as in JSON
/// (`\n`, `\u001b`), so that JSON remains JSON with the same value. ZWJ and ZWNJ are not escaped: emoji and scripts
/// need them, and they affect only adjacent characters.
extension String {
    /// The text as one line.
    package var terminalLine: String { escaped { $0.isUnsafeOnTerminal } }

    /// The text with its own line breaks, for output whose lines are escaped already.
    package var terminalText: String { escaped { $0.isUnsafeOnTerminal && $0 != "\n" } }

    private func escaped(_ isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        var result = String.UnicodeScalarView()
        for scalar in unicodeScalars {
            if isEscaped(scalar) {
                result.append(contentsOf: scalar.jsonEscape.unicodeScalars)
            } else {
                result.append(scalar)
            }
        }
        return String(result)
    }
}

extension Unicode.Scalar {
    fileprivate var isUnsafeOnTerminal: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return self != "\u{200C}" && self != "\u{200D}"
        default: return false
        }
    }

    /// RFC 8259 §7.
    fileprivate var jsonEscape: String {
        switch self {
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        default: break
        }
        return String(self).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
