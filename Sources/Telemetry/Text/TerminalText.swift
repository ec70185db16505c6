/// Text of others, such as names, relays' reasons and error texts, on its way to a terminal or a log.
///
/// Control characters, line separators and invisible format characters, bidi controls among them, are escaped as JSON
/// escapes them (`\n`, `\u001b`), so that JSON stays JSON with the same value. ZWJ and ZWNJ pass, since emoji and
/// scripts need them and they change nothing beyond their neighbours.
extension String {
    /// The text as one line.
    package var terminalLine: String { escaped { $0.isUnsafeOnTerminal } }

    /// The text with its own line ends, for output whose lines were escaped already.
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
