/// Error correction levels (ISO/IEC 18004 §7.5.1); a screen does not need the higher ones.
enum QRLevel: Sendable, CaseIterable {
    /// Recovers from 7 % of unreadable codewords.
    case low
    /// Recovers from 15 %.
    case medium

    /// The level's two bits in the format information.
    var formatBits: Int { self == .low ? 0b01 : 0b00 }
}

/// A symbol version, 1 to 10, at one level (ISO/IEC 18004 tables 1, 9 and E.1).
struct QRVersion: Sendable, Hashable {
    private static let codewords = [26, 44, 70, 100, 134, 172, 196, 242, 292, 346]
    private static let low = [(7, 1), (10, 1), (15, 1), (20, 1), (26, 1), (18, 2), (20, 2), (24, 2), (30, 2), (18, 4)]
    private static let medium = [
        (10, 1), (16, 1), (26, 1), (18, 2), (24, 2), (16, 4), (18, 4), (22, 4), (22, 5), (26, 5),
    ]
    private static let alignments = [
        [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
    ]
    static let all = 1...10

    let number: Int
    /// Number of all codewords, data and correction.
    let codewordCount: Int
    /// Correction codewords per block.
    let correctionLength: Int
    let blockCount: Int

    /// - Parameter number: one of ``all``.
    init(_ number: Int, _ level: QRLevel) {
        precondition(Self.all.contains(number), "QR version: expected 1 to 10, found \(number)")
        let (length, count) = level == .low ? Self.low[number - 1] : Self.medium[number - 1]
        self.number = number
        self.codewordCount = Self.codewords[number - 1]
        self.correctionLength = length
        self.blockCount = count
    }

    /// Modules per side.
    var size: Int { 17 + 4 * number }
    var dataCount: Int { codewordCount - correctionLength * blockCount }
    /// Bits of the length field in byte mode.
    var lengthBits: Int { number < 10 ? 8 : 16 }
    /// Maximum size of the payload in bytes, without the mode and length bits.
    var capacity: Int { (dataCount * 8 - 4 - lengthBits) / 8 }
    /// Centre coordinates of the alignment patterns.
    var alignmentCentres: [Int] { Self.alignments[number - 1] }

    /// Data codewords of each block in order; longer blocks come last.
    var blockLengths: [Int] {
        let (short, longCount) = dataCount.quotientAndRemainder(dividingBy: blockCount)
        return (0..<blockCount).map { $0 < blockCount - longCount ? short : short + 1 }
    }
}
