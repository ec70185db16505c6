/// A text with placeholders: `Hello {name}, it is {time}`.
///
/// `{{` and `}}` are escaped braces. `{1|nobody}` is `nobody` if the value is empty. Values are never parsed as
/// templates themselves.
struct Template: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case text(String)
        case placeholder(Placeholder, otherwise: String)
    }

    /// An error in a template.
    enum SyntaxError: Error, Hashable, Sendable {
        /// A `{` without its `}`.
        case unclosedBrace
        /// A `}` without its `{`.
        case unopenedBrace
        case unknown(String)
    }

    let parts: [Part]

    init(parts: [Part]) {
        self.parts = parts
    }

    init(_ text: String) throws(SyntaxError) {
        var parts: [Part] = []
        var plain = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "{" where rest.first == "{", "}" where rest.first == "}":
                rest = rest.dropFirst()
                plain.append(character)
            case "{":
                if !plain.isEmpty { parts.append(.text(plain)) }
                plain = ""
                parts.append(try Self.parsePlaceholder(&rest))
            case "}": throw .unopenedBrace
            default: plain.append(character)
            }
        }
        if !plain.isEmpty { parts.append(.text(plain)) }
        self.parts = parts
    }

    /// Parses a placeholder after its `{`, up to its `}`.
    private static func parsePlaceholder(_ rest: inout Substring) throws(SyntaxError) -> Part {
        guard let end = rest.firstIndex(where: { $0 == "}" || $0 == "{" }), rest[end] == "}" else {
            throw .unclosedBrace
        }
        let inside = rest[..<end]
        rest = rest[end...].dropFirst()
        let name = inside.prefix { $0 != "|" }
        guard let placeholder = Placeholder(name) else { throw .unknown(String(name)) }
        return .placeholder(placeholder, otherwise: String(inside.dropFirst(name.count + 1)))
    }

    var placeholders: [Placeholder] {
        parts.compactMap { if case .placeholder(let placeholder, _) = $0 { placeholder } else { nil } }
    }

    /// - Parameter encode: encodes a value for its destination.
    func filled(_ value: (Placeholder) -> String, encode: (String) -> String = { $0 }) -> String {
        parts.map { part in
            switch part {
            case .text(let text): return text
            case .placeholder(let placeholder, let otherwise):
                let value = value(placeholder)
                return encode(value.isEmpty ? otherwise : value)
            }
        }.joined()
    }
}

extension String {
    /// The text with everything except letters, digits, `-`, `.`, `_` and `~` percent-encoded (RFC 3986 §2.3).
    var percentEncoded: String {
        var text = ""
        for byte in utf8 {
            let scalar = UnicodeScalar(byte)
            let isLetter = ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
            if isLetter || ("0"..."9").contains(scalar) || "-._~".unicodeScalars.contains(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                text += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
        return text
    }
}
