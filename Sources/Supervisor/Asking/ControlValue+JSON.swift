package import Foundation

extension ControlValue: Codable {
    package init(from decoder: any Decoder) throws {
        if let keyed = try? decoder.container(keyedBy: Name.self) {
            self = .object(
                try Dictionary(
                    keyed.allKeys.map { ($0.stringValue, try keyed.decode(ControlValue.self, forKey: $0)) }
                ) { $1 })
            return
        }
        if var elements = try? decoder.unkeyedContainer() {
            var values: [ControlValue] = []
            while !elements.isAtEnd { values.append(try elements.decode(ControlValue.self)) }
            self = .array(values)
            return
        }
        let single = try decoder.singleValueContainer()
        if single.decodeNil() {
            self = .null
        } else if let value = try? single.decode(String.self) {
            self = .string(value)
        } else if let value = try? single.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? single.decode(Bool.self) {
            self = .bool(value)
        } else {
            self = .number(try single.decode(Double.self))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members):
            var container = encoder.container(keyedBy: Name.self)
            for (name, value) in members { try container.encode(value, forKey: Name(stringValue: name)) }
        case .array(let elements):
            var container = encoder.unkeyedContainer()
            for element in elements { try container.encode(element) }
        case .null:
            var container = encoder.singleValueContainer()
            try container.encodeNil()
        case .bool(let value): try Self.encode(value, encoder)
        case .integer(let value): try Self.encode(value, encoder)
        // JSON cannot represent infinity.
        case .number(let value): try Self.encode(value.isFinite ? value : nil, encoder)
        case .string(let value): try Self.encode(value, encoder)
        }
    }

    private static func encode(_ value: (some Encodable)?, _ encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let value { try container.encode(value) } else { try container.encodeNil() }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    /// Parses one complete JSON text; nil if it is invalid.
    package init?(json: Data) {
        guard let value = try? JSONDecoder().decode(ControlValue.self, from: json) else { return nil }
        self = value
    }

    package init?(json text: String) { self.init(json: Data(text.utf8)) }

    /// One-line JSON with sorted keys.
    package var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Every value can be encoded.
        guard let data = try? encoder.encode(self) else { return "null" }
        return String(decoding: data, as: UTF8.self)
    }
}
