/// Padding of NIP-44: a length prefix before the text and zeros after it.
extension NIP44 {
    /// Length from which the prefix has six bytes, two zeros and 32 bits, instead of 16 bits.
    private static let extendedPrefixThreshold = 65_536

    /// Returns the padded length, without prefix, of a text of `count` bytes; `count` is 1 to 2^32 − 1.
    static func paddedLength(_ count: Int) -> Int {
        guard count > 32 else { return 32 }
        let nextPower = 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
        let chunk = nextPower <= 256 ? 32 : nextPower / 8
        return chunk * ((count - 1) / chunk + 1)
    }

    static func pad(_ plaintext: [UInt8]) -> [UInt8] {
        let count = plaintext.count
        let prefixLength = count < extendedPrefixThreshold ? 2 : 6
        var padded: [UInt8] = []
        padded.reserveCapacity(prefixLength + paddedLength(count))
        if prefixLength == 6 { padded += [0, 0, UInt8(count >> 24 & 0xff), UInt8(count >> 16 & 0xff)] }
        padded += [UInt8(count >> 8 & 0xff), UInt8(count & 0xff)]
        padded += plaintext
        padded += repeatElement(0, count: paddedLength(count) - count)
        return padded
    }

    /// Removes the padding; throws `NostrError.Code.invalidPadding` unless it matches the length prefix.
    static func unpad(_ padded: [UInt8]) throws(NostrError) -> [UInt8] {
        guard padded.count >= 34 else { throw NostrError(.invalidPadding, "the padding is too short") }
        var prefixLength = 2
        var count = Int(padded[0]) << 8 | Int(padded[1])
        if count == 0 {
            prefixLength = 6
            count = padded[2..<6].reduce(0) { $0 << 8 | Int($1) }
            guard count >= extendedPrefixThreshold else {
                throw NostrError(.invalidPadding, "a length in the long form fits the short one")
            }
        }
        guard padded.count == prefixLength + paddedLength(count) else {
            throw NostrError(.invalidPadding, "the padding does not match the length")
        }
        return Array(padded[prefixLength..<(prefixLength + count)])
    }
}
