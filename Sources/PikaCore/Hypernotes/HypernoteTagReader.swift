/// A reader of single tags, such as `<TextInput name="memo" />`.
struct HypernoteTagReader {
    enum Form: Sendable, Hashable {
        case opening
        case closing
        case selfClosing
    }

    struct Tag: Sendable, Hashable {
        let name: String
        let form: Form
        let attributes: [HypernoteAttribute]
        /// The position after `>`.
        let end: Int
    }

    private static let maximumAttributes = 32

    let bytes: [UInt8]
    private var position = 0
    private var limit = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Reads the tag that begins with the `<` at this position; nil if absent.
    mutating func tag(at start: Int) -> Tag? {
        self.position = start + 1
        self.limit = min(self.bytes.count, start + HypernoteDocument.maximumTagBytes)
        let isClosing = self.consume(UInt8(ascii: "/"))
        guard let first = self.byte, Self.isLetter(first), let name = self.name() else { return nil }
        var attributes: [HypernoteAttribute] = []
        while true {
            let hasBlank = self.skipBlanks()
            if self.consume(UInt8(ascii: ">")) {
                return Tag(
                    name: name, form: isClosing ? .closing : .opening, attributes: attributes, end: self.position)
            }
            guard !isClosing else { return nil }
            if self.consume(UInt8(ascii: "/")) {
                guard self.consume(UInt8(ascii: ">")) else { return nil }
                return Tag(name: name, form: .selfClosing, attributes: attributes, end: self.position)
            }
            guard hasBlank, attributes.count < Self.maximumAttributes, let attribute = self.attribute() else {
                return nil
            }
            attributes.append(attribute)
        }
    }

    private mutating func attribute() -> HypernoteAttribute? {
        guard let first = self.byte, Self.isLetter(first) || first == UInt8(ascii: "_"), let name = self.name() else {
            return nil
        }
        guard self.consume(UInt8(ascii: "=")) else { return HypernoteAttribute(name: name, value: .boolean(true)) }
        switch self.byte {
        case UInt8(ascii: "\"")?, UInt8(ascii: "'")?:
            return self.quoted().map { HypernoteAttribute(name: name, value: .string($0)) }
        case UInt8(ascii: "{")?: return self.braced().map { HypernoteAttribute(name: name, value: Self.value($0)) }
        default:
            let word = self.text { !Self.isBlank($0) && $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "/") }
            guard !word.isEmpty, !word.utf8.contains(where: "\"'`=<{".utf8.contains) else { return nil }
            return HypernoteAttribute(name: name, value: Self.literal(word) ?? .string(word))
        }
    }

    private mutating func quoted() -> String? {
        guard let quote = self.byte else { return nil }
        self.position += 1
        let text = self.text { $0 != quote }
        guard self.consume(quote) else { return nil }
        return Self.resolvingEntities(text)
    }

    /// Reads the text between braces, which may contain nested braces.
    private mutating func braced() -> String? {
        let start = self.position + 1
        var depth = 0
        while let byte = self.byte {
            self.position += 1
            if byte == UInt8(ascii: "{") { depth += 1 }
            if byte == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0 {
                let text = String(decoding: self.bytes[start..<(self.position - 1)], as: UTF8.self)
                return String(text.trimmingBlanks)
            }
        }
        return nil
    }

    private static func value(_ expression: String) -> HypernoteAttribute.Value {
        if let literal = Self.literal(expression) { return literal }
        let inner = expression.dropFirst().dropLast()
        guard expression.count >= 2, let quote = expression.first, quote == "\"" || quote == "'",
            expression.last == quote, !inner.contains(quote), !inner.contains("\\")
        else { return .expression(expression) }
        return .string(String(inner))
    }

    private static func literal(_ word: String) -> HypernoteAttribute.Value? {
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        default:
            let digits = word.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2d || $0 == 0x2e }
            guard digits, let number = Double(word), number.isFinite else { return nil }
            return .number(number)
        }
    }

    // MARK: Bytes

    private var byte: UInt8? { self.position < self.limit ? self.bytes[self.position] : nil }

    private mutating func consume(_ byte: UInt8) -> Bool {
        guard self.byte == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func skipBlanks() -> Bool {
        let start = self.position
        while let byte = self.byte, Self.isBlank(byte) { self.position += 1 }
        return self.position > start
    }

    private mutating func name() -> String? {
        let name = self.text { Self.isLetter($0) || (0x30...0x39).contains($0) || "_-.".utf8.contains($0) }
        return name.isEmpty || name.utf8.count > 64 ? nil : name
    }

    private mutating func text(while condition: (UInt8) -> Bool) -> String {
        let start = self.position
        while let byte = self.byte, condition(byte) { self.position += 1 }
        return String(decoding: self.bytes[start..<self.position], as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5a).contains(byte & 0xdf) }
    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    /// Resolves the five entities of XML, and no others.
    static func resolvingEntities(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "&")) else { return text }
        var result = ""
        var rest = text[...]
        while let mark = rest.firstIndex(of: "&") {
            result += rest[..<mark]
            rest = rest[mark...]
            if let (name, character) = Self.entities.first(where: { rest.hasPrefix($0.0) }) {
                result += character
                rest = rest.dropFirst(name.count)
            } else {
                result += "&"
                rest = rest.dropFirst()
            }
        }
        return result + rest
    }

    private static let entities = [
        ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&apos;", "'"),
    ]
}
