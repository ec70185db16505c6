/// An argument of a command, with a name and a type.
///
/// ```swift
/// OnCommand("roll", help: "Rolls dice.", arguments: [.integer("count", in: 1...20), .word("die").optional])
/// ```
public struct CommandArgument: Sendable, Hashable {
    enum Kind: Sendable, Hashable {
        case word
        case integer(ClosedRange<Int>)
        case number
        case choice([String])
        case user
        case duration
        /// The remaining text as written.
        case rest
    }

    /// The argument's name, for ``Command/string(_:)`` and the like, and in usage lines.
    public let name: String
    let kind: Kind
    private(set) var isOptional = false

    /// A word, or several in double quotes.
    public static func word(_ name: String) -> Self { Self(name: name, kind: .word) }

    /// A whole number in a range.
    public static func integer(_ name: String, in range: ClosedRange<Int> = Int.min...Int.max) -> Self {
        Self(name: name, kind: .integer(range))
    }

    /// An integer or decimal number.
    public static func number(_ name: String) -> Self { Self(name: name, kind: .number) }

    /// One of these words. Case is ignored; the value is spelled as declared.
    public static func choice(_ name: String, _ words: [String]) -> Self { Self(name: name, kind: .choice(words)) }

    /// A public key: npub, `nostr:npub…`, or 64 hexadecimal digits.
    public static func user(_ name: String) -> Self { Self(name: name, kind: .user) }

    /// A duration such as `250ms`, `10s`, `5m`, `1h` or `1d`.
    public static func duration(_ name: String) -> Self { Self(name: name, kind: .duration) }

    /// The remaining text as written, at least one word. Only the last argument can be one.
    public static func rest(_ name: String) -> Self { Self(name: name, kind: .rest) }

    /// The same argument, made optional; then all arguments after it may be omitted too.
    public var optional: Self {
        var copy = self
        copy.isOptional = true
        return copy
    }

    private init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    /// The argument in a usage line, such as `<count>`, `[die]`, `<on|off>` or `<text…>`.
    var usage: String {
        let inner =
            switch kind {
            case .choice(let words): words.joined(separator: "|")
            case .rest: "\(name)…"
            default: name
            }
        return isOptional ? "[\(inner)]" : "<\(inner)>"
    }

    /// The expected value, for the reply to a wrong one.
    var expectation: String {
        switch kind {
        case .word, .rest: "text"
        case .integer(let range) where range == Int.min...Int.max: "a whole number"
        case .integer(let range) where range.upperBound == .max: "a whole number of at least \(range.lowerBound)"
        case .integer(let range): "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .number: "a number"
        case .choice(let words): "one of \(words.joined(separator: ", "))"
        case .user: "an npub"
        case .duration: "a duration such as 10m"
        }
    }

    /// Parses a word; nil if it is not a valid value.
    func parse(_ word: String) -> CommandValue? {
        switch kind {
        case .word, .rest: .text(word)
        case .integer(let range): Int(word).flatMap { range.contains($0) ? .integer($0) : nil }
        case .number: Double(word).flatMap { $0.isFinite ? .number($0) : nil }
        case .choice(let words):
            words.first { $0.lowercased() == word.lowercased() }.map { .text($0) }
        case .user:
            (try? PublicKey(parsing: word.hasPrefix("nostr:") ? String(word.dropFirst(6)) : word)).map { .user($0) }
        case .duration: Duration(configurationText: word).map { .duration($0) }
        }
    }
}

/// The value of a declared argument.
public enum CommandValue: Sendable, Hashable {
    /// The value of a word, a choice or the rest.
    case text(String)
    /// A whole number.
    case integer(Int)
    /// An integer or decimal number.
    case number(Double)
    /// A public key.
    case user(PublicKey)
    /// A duration, to the millisecond.
    case duration(Duration)
}
