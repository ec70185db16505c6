import Crypto
import Foundation
import Nostr
import PikaCore

/// The ids of a stream's items: those that the items contain, or unique ones.
package struct StreamIDs: Sendable {
    private let field: String?
    private let session: String
    private var count: UInt64 = 0

    /// - Parameters:
    ///   - field: The member of JSON items that contains their id; nil if they have none.
    ///   - generator: Distinguishes this run from others.
    package init(field: String?, using generator: inout some RandomNumberGenerator) {
        self.field = field
        session = String(generator.next(), radix: 16)
    }

    /// Returns the id of the next item. An item with an id of its own always gets the same one.
    ///
    /// - Parameter given: The id that the protocol states beside the item, if any.
    package mutating func next(_ payload: [UInt8], given: String? = nil) -> String {
        if let own = own(payload) ?? given, !own.isEmpty { return Self.fitting(own) }
        count &+= 1
        return "\(session)-\(count)"
    }

    private func own(_ payload: [UInt8]) -> String? {
        guard let field, let value = try? JSONValue(json: payload)[field] else { return nil }
        switch value {
        case .string(let text): return text.isEmpty ? nil : text
        case .integer(let number): return String(number)
        default: return nil
        }
    }

    /// Returns an id within the limit: a longer one is replaced by its hash.
    package static func fitting(_ id: String) -> String {
        guard id.utf8.count > FeedItem.maximumIDBytes else { return id }
        return SHA256.hash(data: Data(id.utf8)).map { byte in hex(byte) }.joined()
    }

    static func hex(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }
}
