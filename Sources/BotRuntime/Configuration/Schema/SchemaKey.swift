/// One key of the configuration file: its name, what it takes, what its absence means, what it is for, and what a
/// change of it needs while the program runs. The parser, `config/schema.json` and `docs/configuration.md` all come
/// from here.
struct SchemaKey: Sendable {
    /// What it means that the key is not there.
    enum Absence: Sendable, Equatable {
        case refused
        /// The same as this value, in YAML.
        case standard(String)
        /// In words.
        case meaning(String)
    }

    let name: String
    let value: SchemaValue
    let absence: Absence
    /// A value in YAML, other than the default; nil where it is made of the examples of the keys below.
    let example: String?
    /// What an error tells the author to write.
    let hint: String?
    /// A sentence or more of Markdown.
    let summary: String
    /// What a change of it needs; nil for a mapping, whose keys say so themselves.
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

/// A mapping of the file: its keys, and how many of them there must be.
struct SchemaMapping: Sendable {
    enum Rule: Sendable {
        /// Those that are required, and any of the others.
        case each
        /// One of all, and no other.
        case exactlyOne
    }

    /// Unique; names its part of the schema and of the reference.
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

/// What a key takes.
indirect enum SchemaValue: Sendable {
    case text(SchemaText)
    case boolean
    case integer(ClosedRange<Int>)
    /// One of these words.
    case choice([String])
    case list(of: SchemaValue, atLeast: Int)
    case mapping(SchemaMapping)
    /// Names that the file's author chooses, and what stands under each.
    case table(of: SchemaText, SchemaValue)
    /// Any one of these; the first is the usual one.
    case either([SchemaValue])
    /// A mapping whose keys are somebody else's.
    case settings
}

/// A kind of text, with the expression that schema validators ask of it.
struct SchemaText: Sendable {
    /// Unique; names its part of the schema.
    let name: String
    /// In the tables of the reference.
    let title: String
    /// By ECMA-262, matching the whole text.
    let pattern: String
    let summary: String
}
