public import TLSCodec

// uint16 ComponentID;

/// Number of an application component (MLS extensions draft §4.1).
///
/// The numbers are a registry of their own: component 0x0006 and extension type 0x0006 are unrelated.
public struct ComponentID: RawRepresentable, Hashable, Comparable, Sendable {
    /// Number of the component on the wire.
    public let rawValue: UInt16

    /// Creates an id with any number.
    public init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    /// `app_components`: the components that a leaf supports, or that the GroupContext requires (§5 of the draft).
    public static let appComponents = ComponentID(rawValue: 1)
    /// `safe_aad`: the components that use ``SafeAAD`` (§4.9 of the draft).
    public static let safeAAD = ComponentID(rawValue: 2)
    /// `content_media_types`: the media types that a client supports, or that a group requires (§6.2 of the draft).
    public static let contentMediaTypes = ComponentID(rawValue: 3)
    /// `last_resort_key_package`: marks a key package that may be used more than once (§6.4 of the draft).
    public static let lastResortKeyPackage = ComponentID(rawValue: 4)
    /// `app_ack`: acknowledgements of messages (§6.1 of the draft).
    public static let appAck = ComponentID(rawValue: 5)

    /// Whether the number is in the range for private use, 0x8000 to 0xFFFF.
    public var isPrivate: Bool { self.rawValue >= 0x8000 }

    /// Orders ids by number.
    public static func < (left: ComponentID, right: ComponentID) -> Bool { left.rawValue < right.rawValue }
}

extension ComponentID: ExpressibleByIntegerLiteral {
    /// Creates an id from an integer literal.
    public init(integerLiteral value: UInt16) { self.init(rawValue: value) }
}

extension ComponentID: CustomStringConvertible {
    /// The number as four hexadecimal digits after `0x`.
    public var description: String {
        let digits = String(self.rawValue, radix: 16)
        return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}

extension ComponentID: TLSEncodable, TLSDecodable {
    /// Decodes a `uint16`; accepts any number.
    public init(from reader: inout TLSReader) throws(TLSCodecError) {
        self.init(rawValue: try reader.readUInt16())
    }

    /// Encodes the number as a `uint16`.
    public func encode(to writer: inout TLSWriter) { writer.write(self.rawValue) }
}
