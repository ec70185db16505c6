/// The reason why a message of a call relay, or of its client, is malformed.
package enum CallWireError: Error, Hashable, Sendable {
    /// Shorter than the fields of its type.
    case tooShort
    /// Longer than the fields of its type, or than ``CallWire/maximumMessage``.
    case tooLong
    case unknownType(UInt8)
    case unknownRefusal(UInt8)
}
