/// A JSON value, as exchanged between a supervisor, its workers and control clients.
///
/// Not `Nostr.JSONValue`, because the supervisor is independent of Nostr and its C libraries. Members have no order
/// here: objects are equal whatever their order, and are written sorted. Foundation reads them, so that a worker's
/// result may be nested deeper than the 32 levels of Nostr's reader.
package enum ControlValue: Hashable, Sendable {
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
    package var string: String? { if case .string(let value) = self { value } else { nil } }
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [ControlValue]? { if case .array(let value) = self { value } else { nil } }
    package var object: [String: ControlValue]? { if case .object(let value) = self { value } else { nil } }

    /// A member of an object; nil for other types.
    package subscript(name: String) -> ControlValue? { object?[name] }
}

extension ControlValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral
{
    package init(stringLiteral value: String) { self = .string(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
    package init(arrayLiteral elements: ControlValue...) { self = .array(elements) }
    package init(nilLiteral: ()) { self = .null }

    package init(dictionaryLiteral elements: (String, ControlValue)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
