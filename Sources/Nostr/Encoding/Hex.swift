/// Hexadecimal encoding (RFC 4648 §8): written in lower case, read in either case.
public enum Hex {
    static let digits: [UInt8] = Array("0123456789abcdef".utf8)

    /// Returns two lower-case digits per byte.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        // A generic loop over elements costs hundreds of instructions for each byte.
        let (bytes, digits) = (Array(bytes), digits)
        return String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            for (index, byte) in bytes.enumerated() {
                text[2 * index] = digits[Int(byte >> 4)]
                text[2 * index + 1] = digits[Int(byte & 15)]
            }
            return 2 * bytes.count
        }
    }

    /// Decodes hexadecimal; nil for an odd number of digits or any other character.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        let digits = text.utf8
        let count = digits.count
        guard count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count / 2)
        var high: UInt8?
        for digit in digits {
            guard let value = value(of: digit) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return bytes
    }

    @inline(__always)
    static func value(of digit: UInt8, lowercaseOnly: Bool = false) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit &- 0x30
        case 0x61...0x66: digit &- 0x57
        case 0x41...0x46 where !lowercaseOnly: digit &- 0x37
        default: nil
        }
    }
}
