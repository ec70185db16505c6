/// A key of the configuration file: its name, value, default, description, and the effect of changing it while the
/// program runs. The single source of the parser, `config/schema.json` and `docs/configuration.md`.
struct SchemaKey: Sendable {
    /// The meaning of an absent key.
    enum Absence: Sendable, Equatable {
        case refused
        /// A default value, in YAML.
        case standard(String)
        /// A description in words.
        case meaning(String)
    }

    let name: String
    let value: SchemaValue
    let absence: Absence
    /// An example in YAML other than the default; nil if it is composed of the examples of the keys below.
    let example: String?
    /// The advice in errors.
    let hint: String?
    /// A description in Markdown, at least one sentence.
    let summary: String
    /// The effect of a change; nil for a mapping, whose keys declare their own.
    let effect: ConfigurationChange.Effect?

    init(
        _ name: String, _ value: SchemaValue, _ absence: Absence, example: String? = nil, hint: String? = nil,
        effect: ConfigurationChange.Effect? = nil, _ summary: String
    ) {
        self.name = name
        self.value = value
        self.absence = absence
        self.example = example
        self.hint = hint ?? example
        self.effect = effect
        self.summary = summary
    }
}

/// A mapping of the file: its keys, and which of them are allowed together.
struct SchemaMapping: Sendable {
    enum Rule: Sendable {
        /// All required keys, and any of the others.
        case each
        /// Exactly one of the keys.
        case exactlyOne
    }

    /// The unique name of its part of the schema and of the reference.
    let name: String
    let title: String
    let rule: Rule
    let keys: [SchemaKey]

    init(_ name: String, _ title: String, rule: Rule = .each, _ keys: [SchemaKey]) {
        self.name = name
        self.title = title
        self.rule = rule
        self.keys = keys
    }

    subscript(name: String) -> SchemaKey? { keys.first { $0.name == name } }

    var names: [String] { keys.map(\.name) }
}

/// The values that a key accepts.
indirect enum SchemaValue: Sendable {
    case text(SchemaText)
    case boolean
    case integer(ClosedRange<Int>)
    /// One of these words.
    case choice([String])
    case list(of: SchemaValue, atLeast: Int)
    case mapping(SchemaMapping)
    /// A mapping with user-defined keys, and the values of each.
    case table(of: SchemaText, SchemaValue)
    /// Any of these; the first is the usual one.
    case either([SchemaValue])
    /// A mapping whose keys are defined elsewhere, such as by a bot.
    case settings
}

/// A kind of string, with the regular expression for schema validators.
struct SchemaText: Sendable {
    /// The unique name of its part of the schema.
    let name: String
    /// The name in the tables of the reference.
    let title: String
    /// An ECMA-262 expression that matches the whole text.
    let pattern: String
    let summary: String
}
