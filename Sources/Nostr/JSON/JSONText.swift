/// Scanning of string contents, shared by reader and writer.
enum JSONText {
    /// Returns the index of the next quote, backslash or control character, or the count if absent.
    static func nextSpecial(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = start
        // Step eight bytes at a time. False positives occur only above a real hit, so stopping there is always right.
        while index &+ 8 <= bytes.count {
            let word = raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            guard !mayHoldSpecial(word) else { break }
            index &+= 8
        }
        while index < bytes.count, !isSpecial(bytes[index]) { index &+= 1 }
        return index
    }

    @inline(__always)
    static func isSpecial(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5c }

    @inline(__always)
    private static func mayHoldSpecial(_ word: UInt64) -> Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops: UInt64 = 0x8080_8080_8080_8080
        let quotes = word ^ (ones &* 0x22)
        let slashes = word ^ (ones &* 0x5c)
        let hits = (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes
        return hits & tops != 0
    }
}
