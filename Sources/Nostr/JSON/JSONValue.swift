/// JSON value of any type, for documents that have no type of their own here.
public enum JSONValue: Hashable, Sendable {
    /// The literal `null`.
    case null
    /// `true` or `false`.
    case bool(Bool)
    /// Number without fraction and exponent.
    case integer(Int64)
    /// Any other number.
    case number(Double)
    /// Text with its escapes decoded.
    case string(String)
    /// Elements in order.
    case array([JSONValue])
    /// Members in order, with unique names.
    case object(JSONObject)

    /// Maximum nesting depth of arrays and objects; deeper text is refused.
    public static let maximumDepth = 32

    /// Parses one complete text; throws for invalid JSON (RFC 8259) and for numbers that do not fit `Int64` or
    /// `Double`.
    public init(json: some Collection<UInt8>) throws(NostrError) {
        self = try JSONReader.read(json) { reader throws(NostrError) in try JSONValue(&reader) }
    }

    /// Parses one complete text; throws as ``init(json:)-(Collection<UInt8>)`` does.
    public init(json text: String) throws(NostrError) { try self.init(json: Array(text.utf8)) }

    /// Returns compact JSON. JSON cannot express a number that is not finite, so it becomes `null`.
    public func json() -> [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.value(self)
        return writer.bytes
    }

    /// ``json()`` as a string.
    public var jsonText: String { String(decoding: json(), as: UTF8.self) }
}

/// Typed access to a value; nil if it has another type.
extension JSONValue {
    /// The text of a string.
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    /// The value of a number without fraction and exponent; nil also for ``number(_:)``.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The value of `true` or `false`.
    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements of an array.
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    /// The content of an object.
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The number as a double, for integers too.
    public var double: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    /// Returns a member of an object; nil for other types too.
    public subscript(name: String) -> JSONValue? { object?[name] }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
    /// Creates a string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates `true` or `false`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Creates a number, even if it has no fraction; JSON cannot express one that is not finite.
    public init(floatLiteral value: Double) { self = .number(value) }
    /// Creates an array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// Creates `null`.
    public init(nilLiteral: ()) { self = .null }

    /// Creates an object; of a repeated name the last value counts.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var object = JSONObject()
        for (name, value) in elements { object[name] = value }
        self = .object(object)
    }
}

extension JSONValue {
    init(_ reader: inout JSONReader) throws(NostrError) {
        switch try reader.peek() {
        case UInt8(ascii: "\""): self = .string(try reader.string())
        case UInt8(ascii: "{"): self = .object(try JSONObject(&reader))
        case UInt8(ascii: "["):
            var elements: [JSONValue] = []
            try reader.enterArray()
            while try reader.nextElement() { elements.append(try JSONValue(&reader)) }
            self = .array(elements)
        case UInt8(ascii: "-"), 0x30...0x39:
            let start = reader.position
            let (text, isInteger) = try reader.numberText()
            if isInteger {
                guard let value = Int64(text) else { throw reader.outOfRange(start) }
                self = .integer(value)
            } else {
                guard let value = Double(text), value.isFinite else { throw reader.outOfRange(start) }
                self = .number(value)
            }
        default: self = try reader.literal().map(JSONValue.bool) ?? .null
        }
    }
}

extension JSONWriter {
    mutating func value(_ value: JSONValue) {
        switch value {
        case .null: raw("null")
        case .bool(let value): value ? raw("true") : raw("false")
        case .integer(let value): integer(value)
        case .number(let value): value.isFinite ? verbatim(value.description) : raw("null")
        case .string(let value): string(value)
        case .array(let elements): array(elements) { $0.value($1) }
        case .object(let object):
            raw("{")
            var first = true
            for member in object.members {
                if !first { raw(",") }
                first = false
                string(member.name)
                raw(":")
                self.value(member.value)
            }
            raw("}")
        }
    }
}
