/// The bot's own part of the configuration (`with:`) as a tree of plain values; ``SettingsReader`` reads it.
public enum BotSettings: Hashable, Sendable {
    /// An empty value.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// A whole number.
    case int(Int)
    /// A decimal number, such as `0.5`.
    case double(Double)
    /// A string.
    case string(String)
    /// A YAML sequence.
    case array([BotSettings])
    /// A YAML mapping.
    case object([String: BotSettings])

    /// The value for a key of an object; nil if absent or this is not an object.
    public subscript(key: String) -> BotSettings? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    /// The Boolean; nil for any other value.
    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// The whole number; nil for any other value.
    public var intValue: Int? {
        if case .int(let value) = self { value } else { nil }
    }

    /// The number, whole or not; nil for any other value.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }

    /// The text; nil for any other value, including a number.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The elements; nil if this is not an array.
    public var arrayValue: [BotSettings]? {
        if case .array(let values) = self { values } else { nil }
    }
}
