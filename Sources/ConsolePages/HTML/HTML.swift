/// A piece of markup that contains no unescaped text of others.
///
/// Only literals of the source code are markup: the literal type is `StaticString`, which cannot be made from text at
/// run time. Interpolated text is escaped, interpolated markup is inserted as it is:
///
/// ```swift
/// let cell: HTML = "<td>\(name)</td>"
/// ```
package struct HTML: Sendable, Hashable {
    /// The markup, for writing a response.
    package private(set) var markup: String

    /// Creates text content.
    package init(text: some StringProtocol) {
        markup = String(text).escapedMarkup
    }

    /// Joins pieces.
    package init(_ pieces: some Sequence<HTML>) {
        markup = ""
        for piece in pieces { markup += piece.markup }
    }

    package static let empty = HTML([])

    package var isEmpty: Bool { markup.isEmpty }

    package static func + (left: HTML, right: HTML) -> HTML { HTML([left, right]) }

    package static func += (left: inout HTML, right: HTML) { left.markup += right.markup }

    /// Builds one piece for each element.
    package static func each<Element>(_ elements: some Sequence<Element>, _ piece: (Element) -> HTML) -> HTML {
        HTML(elements.map(piece))
    }
}

extension HTML: ExpressibleByStringInterpolation {
    package init(stringLiteral value: StaticString) {
        markup = value.description
    }

    package init(stringInterpolation: StringInterpolation) {
        markup = stringInterpolation.markup
    }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var markup = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            markup.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { markup += literal.description }
        package mutating func appendInterpolation(_ text: some StringProtocol) {
            markup += String(text).escapedMarkup
        }
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) { markup += String(number) }
        package mutating func appendInterpolation(_ html: HTML) { markup += html.markup }
    }
}

extension String {
    /// The text for element content and quoted attributes.
    ///
    /// Besides the characters of markup, control characters and invisible format characters, including bidi controls,
    /// are escaped as in JSON (`\u202e`): a name cannot reorder the text beside it, or hide a part of itself.
    var escapedMarkup: String {
        guard utf8.contains(where: { !$0.isPlain }) else { return self }
        var result = ""
        result.reserveCapacity(utf8.count + 16)
        for scalar in unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            case "\n", "\t": result.unicodeScalars.append(scalar)
            case _ where scalar.isInvisible: result += scalar.visibleEscape
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}

extension UInt8 {
    /// Whether the byte is an ASCII character that needs no escaping.
    fileprivate var isPlain: Bool {
        switch self {
        case 0x20...0x7E: ![0x22, 0x26, 0x27, 0x3C, 0x3E].contains(self)
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Controls, line separators and format characters; ZWJ and ZWNJ are visible by their effect on one word only.
    fileprivate var isInvisible: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return self != "\u{200C}" && self != "\u{200D}"
        default: return false
        }
    }

    fileprivate var visibleEscape: String {
        String(self).utf16.map { unit in
            let digits = String(unit, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }.joined()
    }
}
