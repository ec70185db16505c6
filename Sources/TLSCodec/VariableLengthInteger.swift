/// Length header of RFC 9420 §2.1.2: one, two or four bytes, as stated by the two top bits; always the shortest form.
public enum VariableLengthInteger {
    /// Maximum length that a header can express, in bytes.
    public static let maximum = (1 << 30) - 1

    /// Returns the length in bytes of the header of a vector of `length` bytes: 1, 2 or 4.
    @inlinable
    public static func headerSize(of length: Int) -> Int {
        length < 1 << 6 ? 1 : length < 1 << 14 ? 2 : 4
    }
}

extension TLSWriter {
    /// Appends the length header for `length` bytes; a length above 2^30 - 1 is a programming error and traps.
    @inlinable
    public mutating func writeLength(_ length: Int) {
        precondition(
            length >= 0 && length <= VariableLengthInteger.maximum, "a TLS vector holds at most 2^30 - 1 bytes")
        switch VariableLengthInteger.headerSize(of: length) {
        case 1: self.write(UInt8(length))
        case 2: self.write(UInt16(length) | 0x4000)
        default: self.write(UInt32(length) | 0x8000_0000)
        }
    }
}

extension TLSReader {
    /// Reads a length header; refuses the 8-byte form and forms longer than needed.
    @inlinable
    public mutating func readLength() throws(TLSCodecError) -> Int {
        let start = self.offset
        let first = Int(try self.readUInt8())
        let length: Int
        let size: Int
        switch first >> 6 {
        case 0: return first
        case 1:
            length = (first & 0x3F) << 8 | Int(try self.readUInt8())
            size = 2
        case 2:
            let second = Int(try self.readUInt8())
            length = (first & 0x3F) << 24 | second << 16 | Int(try self.readUInt16())
            size = 4
        // V6.3.1-6: A vector holds less than 2^30 bytes.
        default:
            throw TLSCodecError(
                .lengthTooLarge, offset: start, "length header uses the 8-byte form, which RFC 9420 §2.1.2 forbids")
        }
        guard VariableLengthInteger.headerSize(of: length) == size else {
            throw TLSCodecError(
                .nonMinimalLength, offset: start,
                "length \(length) is written in \(size) bytes, not in its shortest form"
            )
        }
        return length
    }
}
