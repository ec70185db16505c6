/// Thirty-two bytes stored inline, without an allocation; ordered like byte strings.
public struct Bytes32: Hashable, Comparable, Sendable {
    /// The number of bytes, 32.
    public static let count = 32

    // Four big-endian words, whose numeric order equals the order of the bytes.
    private var words: Words

    private struct Words: Hashable, Sendable {
        var first: UInt64 = 0
        var second: UInt64 = 0
        var third: UInt64 = 0
        var fourth: UInt64 = 0
    }

    /// Copies `bytes`; nil unless there are exactly 32.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Bytes32.count else { return nil }
        self.init { buffer in
            // Iterating a generic collection costs more than copying contiguous storage.
            if bytes.withContiguousStorageIfAvailable({ buffer.copyBytes(from: $0.prefix(Bytes32.count)) }) == nil {
                for (index, byte) in bytes.enumerated() where index < Bytes32.count { buffer[index] = byte }
            }
        }
    }

    /// Parses hexadecimal; nil unless there are exactly 64 digits, of either case.
    public init?(hex: String) {
        let value = hex.utf8.withContiguousStorageIfAvailable { Bytes32(digits: $0, lowercaseOnly: false) }
        guard let value = value ?? Bytes32(digits: Array(hex.utf8), lowercaseOnly: false) else { return nil }
        self = value
    }

    init?(digits: some RandomAccessCollection<UInt8>, lowercaseOnly: Bool) {
        guard digits.count == 2 * Bytes32.count else { return nil }
        var words = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        for digit in digits {
            guard let value = Hex.value(of: digit, lowercaseOnly: lowercaseOnly) else { return nil }
            words.0 = words.0 << 4 | words.1 >> 60
            words.1 = words.1 << 4 | words.2 >> 60
            words.2 = words.2 << 4 | words.3 >> 60
            words.3 = words.3 << 4 | UInt64(value)
        }
        self.words = Words(first: words.0, second: words.1, third: words.2, fourth: words.3)
    }

    /// Creates a value from the 32 bytes that `fill` writes into a zeroed buffer.
    init(fill: (UnsafeMutableRawBufferPointer) -> Void) {
        var storage = (UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        withUnsafeMutableBytes(of: &storage, fill)
        words = Words(
            first: UInt64(bigEndian: storage.0), second: UInt64(bigEndian: storage.1),
            third: UInt64(bigEndian: storage.2), fourth: UInt64(bigEndian: storage.3))
    }

    /// Returns 32 random bytes.
    public static func random(using generator: inout some RandomNumberGenerator) -> Bytes32 {
        var value = Bytes32 { _ in }
        value.words = Words(
            first: generator.next(), second: generator.next(), third: generator.next(), fourth: generator.next())
        return value
    }

    func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let storage = (
            words.first.bigEndian, words.second.bigEndian, words.third.bigEndian, words.fourth.bigEndian
        )
        return Swift.withUnsafeBytes(of: storage, body)
    }

    /// The 32 bytes as an array.
    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    /// The bytes as 64 lower-case hexadecimal digits.
    public var hex: String {
        String(unsafeUninitializedCapacity: 2 * Bytes32.count) { output in
            writeHex(into: output)
            return 2 * Bytes32.count
        }
    }

    /// Writes 64 hexadecimal digits at the start of `output`, which must have room for them.
    func writeHex(into output: UnsafeMutableBufferPointer<UInt8>) {
        withUnsafeBytes { bytes in
            for index in 0..<Bytes32.count {
                output[2 * index] = Bytes32.digit(bytes[index] >> 4)
                output[2 * index + 1] = Bytes32.digit(bytes[index] & 15)
            }
        }
    }

    @inline(__always)
    private static func digit(_ value: UInt8) -> UInt8 { value &+ (value < 10 ? 0x30 : 0x57) }

    /// Compares byte by byte, the first byte first.
    public static func < (left: Bytes32, right: Bytes32) -> Bool {
        if left.words.first != right.words.first { return left.words.first < right.words.first }
        if left.words.second != right.words.second { return left.words.second < right.words.second }
        if left.words.third != right.words.third { return left.words.third < right.words.third }
        return left.words.fourth < right.words.fourth
    }
}
