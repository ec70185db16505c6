import Foundation

/// The JSON form of the API's values.
package enum APICoding {
    /// Maximum size of a body or an event in bytes.
    package static let maximumBytes = 1 << 20

    /// Decodes and validates a value.
    ///
    /// Throws `ApplianceError.Code.tooLarge` or `ApplianceError.Code.malformed`; the message names the field, never
    /// the content. Unknown fields are ignored.
    package static func decode<Value: APIValue>(
        _ type: Value.Type, from bytes: some Collection<UInt8>, maximumBytes: Int = maximumBytes
    ) throws(ApplianceError) -> Value {
        guard bytes.count <= maximumBytes else {
            throw ApplianceError(.tooLarge, "expected at most \(maximumBytes) bytes of JSON, found \(bytes.count)")
        }
        let value: Value
        do {
            value = try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw ApplianceError(.malformed, "expected \(Value.self), found invalid JSON\(Self.place(error))")
        }
        try value.validate()
        return value
    }

    /// Encodes a value, with sorted names.
    ///
    /// Throws `ApplianceError.Code.malformed` for a value outside its bounds.
    package static func encode(_ value: some APIValue) throws(ApplianceError) -> [UInt8] {
        try value.validate()
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(value))
        } catch {
            throw ApplianceError(.malformed, "\(type(of: value)) cannot be expressed as JSON")
        }
    }

    private static func place(_ error: any Error) -> String {
        let path: [any CodingKey]
        switch error as? DecodingError {
        case .keyNotFound(let key, let context)?: path = context.codingPath + [key]
        case .typeMismatch(_, let context)?, .valueNotFound(_, let context)?, .dataCorrupted(let context)?:
            path = context.codingPath
        default: path = []
        }
        guard !path.isEmpty else { return "" }
        // Names of maps come from outside, and a line of a log should not become arbitrarily long.
        let names = path.prefix(8).map { key in
            key.intValue.map { "[\($0)]" } ?? String(key.stringValue.prefix(40).filter { $0.isLetter || $0.isNumber })
        }
        return " at \(names.joined(separator: "."))"
    }
}
