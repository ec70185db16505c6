import Foundation

/// The stored form of state machines.
enum JSONCoding {
    static func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: try JSONEncoder().encode(value))
    }
}
