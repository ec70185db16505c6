/// MLS group id (RFC 9420 §8.1): opaque bytes that the group's creator chooses and that never change.
///
/// It is the only identity of a group. A routing label that members can change is not an identity.
public struct GroupID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The id as on the wire.
    public let bytes: [UInt8]

    /// Creates an id from bytes of any number.
    public init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
    }

    /// Parses ``hex`` in either case; nil for an odd number of digits or any other character.
    public init?(hex: some StringProtocol) {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in hex.utf8 {
            let value: UInt8
            switch digit {
            case 0x30...0x39: value = digit &- 0x30
            case 0x61...0x66: value = digit &- 0x57
            case 0x41...0x46: value = digit &- 0x37
            default: return nil
            }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        guard high == nil else { return nil }
        self.bytes = bytes
    }

    /// Lower-case hexadecimal digits.
    public var hex: String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(2 * self.bytes.count)
        for byte in self.bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The id in lower-case hexadecimal digits, as ``hex``.
    public var description: String { self.hex }

    /// Orders ids by their bytes; a prefix comes first.
    public static func < (left: GroupID, right: GroupID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}

extension GroupID: ExpressibleByArrayLiteral {
    /// Creates an id from a list of bytes.
    public init(arrayLiteral elements: UInt8...) {
        self.init(elements)
    }
}
