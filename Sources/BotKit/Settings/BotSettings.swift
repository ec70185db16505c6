/// The bot-specific part of the configuration (`with:`) as a tree of plain values.
public enum BotSettings: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int)
    case double(Double)
    case string(String)
    case array([BotSettings])
    case object([String: BotSettings])

    /// The value for a key of an object; nil if there is none or this is not an object.
    public subscript(key: String) -> BotSettings? {
        if case .object(let members) = self { members[key] } else { nil }
    }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var intValue: Int? {
        if case .int(let value) = self { value } else { nil }
    }

    /// An integer or decimal number.
    public var doubleValue: Double? {
        switch self {
        case .double(let value): value
        case .int(let value): Double(value)
        default: nil
        }
    }

    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var arrayValue: [BotSettings]? {
        if case .array(let values) = self { values } else { nil }
    }
}
