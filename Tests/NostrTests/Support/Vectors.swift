import Foundation
import Nostr

/// Reads the published and recorded test data.
enum Vectors {
    static func bytes(_ name: String) throws -> [UInt8] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        return [UInt8](try Data(contentsOf: folder.appendingPathComponent("Vectors").appendingPathComponent(name)))
    }

    static func json(_ name: String) throws -> JSONValue { try JSONValue(json: bytes(name)) }
}

extension JSONValue {
    /// A string that the data must contain.
    func text(_ name: String) throws -> String {
        guard let text = self[name]?.string else { throw NostrError(.missingField, name) }
        return text
    }

    func hex(_ name: String) throws -> [UInt8] {
        guard let bytes = Hex.decode(try text(name)) else { throw NostrError(.invalidHex, name) }
        return bytes
    }
}
