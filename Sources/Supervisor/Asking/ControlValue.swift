/// A JSON value, as exchanged between a supervisor, its workers and control clients.
public enum ControlValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case number(Double)
    case string(String)
    case array([ControlValue])
    case object([String: ControlValue])
}

/// Typed access: nil if the value has another type.
extension ControlValue {
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var array: [ControlValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: [String: ControlValue]? { if case .object(let value) = self { value } else { nil } }

    /// A member of an object; nil for other types.
    public subscript(name: String) -> ControlValue? { object?[name] }
}

extension ControlValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: ControlValue...) { self = .array(elements) }
    public init(nilLiteral: ()) { self = .null }

    public init(dictionaryLiteral elements: (String, ControlValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
