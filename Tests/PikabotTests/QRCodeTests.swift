import Testing

@testable import pikabot

/// Full symbols are from the Python package segno 1.6.6; the padded one is from qrcode 8.2, since segno pads
/// differently.
@Suite struct QRCodeTests {
    static let link = "pika://chat/npub10xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpkge6d"

    private func rows(_ code: QRCode) -> String {
        (0..<code.size).map { row in (0..<code.size).map { code[row, $0] ? "#" : "." }.joined() }
            .joined(separator: "\n")
    }

    /// FNV-1a, 64 bits.
    private func digest(_ text: String) -> UInt64 {
        text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    @Test func drawsSmallestSymbol() throws {
        let expected = """
            #######...###.#######
            #.....#.###.#.#.....#
            #.###.#...###.#.###.#
            #.###.#.##..#.#.###.#
            #.###.#..#..#.#.###.#
            #.....#.#..#..#.....#
            #######.#.#.#.#######
            .........#...........
            #####.###..#.#.#.#.#.
            ###.#.....#####..#...
            ..##..##....#.##.....
            ...#...#.######..#.#.
            ####.######.#..#..#..
            ........##..#..#..#.#
            #######.####.#..####.
            #.....#..##....##.##.
            #.###.#.##.#.#..###..
            #.###.#.#.#####..#...
            #.###.#.#.#.#.##.....
            #.....#.##.####..#...
            #######.#.#.#..#..##.
            """
        let code = try #require(QRCode("a", level: .low, mask: 2))
        #expect(rows(code) == expected)
    }

    /// Level, bytes, version, mask, digest of the rows.
    static let matrices: [(QRLevel, Int, Int, Int, UInt64)] = [
        (.low, 17, 1, 1, 0x10d82aa8c2227c97),
        (.low, 32, 2, 2, 0x018f27d6b2e522b9),
        (.low, 53, 3, 3, 0xa429c9d21a366593),
        (.low, 78, 4, 4, 0xd618600b0ffaaff7),
        (.low, 106, 5, 5, 0xc169b8ce1d0fcf18),
        (.low, 134, 6, 6, 0xed61a88c274f71fb),
        (.low, 154, 7, 7, 0x774e0c365ab4161f),
        (.low, 192, 8, 0, 0x3ec40b2aef053dcd),
        (.low, 230, 9, 1, 0x3773a0d89d07a9b6),
        (.low, 271, 10, 2, 0x16560b08cdf846ef),
        (.medium, 14, 1, 4, 0xd231026081607b5d),
        (.medium, 26, 2, 5, 0x6bee5c3ed8f2fcca),
        (.medium, 42, 3, 6, 0xc3d2648539f8c1d7),
        (.medium, 62, 4, 7, 0x6d7c19152e2279c2),
        (.medium, 84, 5, 0, 0xe345dde31f510629),
        (.medium, 106, 6, 1, 0x3a2fec68c9d8e3bf),
        (.medium, 122, 7, 2, 0x3b02c0810b3654ff),
        (.medium, 152, 8, 3, 0xbec2e5e79ebe89b1),
        (.medium, 180, 9, 4, 0x156aee53abfe7f51),
        (.medium, 213, 10, 5, 0x14bc00e7d455e3b3),
    ]

    @Test(arguments: matrices)
    func drawsFullSymbolsOfEveryVersion(level: QRLevel, bytes: Int, version: Int, mask: Int, expected: UInt64) throws {
        let text = String(String(repeating: Self.link + "?", count: 5).prefix(bytes))
        let code = try #require(QRCode(text, level: level, mask: mask))
        #expect(code.version.number == version && code.version.capacity == bytes && code.size == 17 + 4 * version)
        #expect(digest(rows(code)) == expected)
    }

    @Test func refusesTooLongText() {
        #expect(QRCode(String(repeating: "x", count: 272), level: .low) == nil)
        #expect(QRCode(String(repeating: "x", count: 214), level: .medium) == nil)
        #expect(QRCode("", level: .low)?.version.number == 1)
    }

    @Test func choosesMaskWithLowestPenalty() throws {
        let chosen = try #require(QRCode(Self.link, level: .low))
        // segno and qrcode choose the same mask.
        #expect(chosen.mask == 2 && chosen.version.number == 4)
        #expect(rows(chosen) == rows(try #require(QRCode(Self.link, level: .low, mask: 2))))
    }

    @Test func formatInformationMatchesStandard() {
        // ISO/IEC 18004 table C.1.
        #expect(QRCanvas.formatBits(.medium, 0) == 0x5412)
        #expect(QRCanvas.formatBits(.medium, 5) == 0x40ce)
        #expect(QRCanvas.formatBits(.low, 0) == 0x77c4)
        #expect(QRCanvas.formatBits(.low, 7) == 0x6976)
    }

    @Test func correctionCodewordsMatchStandard() {
        // ISO/IEC 18004 annex I: the numeric message 01234567 in a symbol 1-M.
        let data: [UInt8] = [16, 32, 12, 86, 97, 128, 236, 17, 236, 17, 236, 17, 236, 17, 236, 17]
        #expect(
            ReedSolomon.correction(of: data, length: 10) == [165, 36, 212, 193, 237, 54, 199, 135, 44, 85])
        #expect(ReedSolomon.multiply(0x80, 2) == 0x1d && ReedSolomon.multiply(0, 7) == 0)
    }

    @Test func terminalShowsTwoRowsPerLine() throws {
        let code = try #require(QRCode("a", level: .low, mask: 2))
        let lines = code.terminalText(isColored: false).split(separator: "\n")
        #expect(lines.count == 15 && lines.allSatisfy { $0.count == 29 })
        #expect(lines[0] == String(repeating: "█", count: 29))
        // The rows 0 and 1: a finder begins with a dark row, then a frame.
        #expect(lines[2].hasPrefix("████ ▄▄▄▄▄ █"))
        let colored = code.terminalText(isColored: true).split(separator: "\n")
        #expect(colored.allSatisfy { $0.hasPrefix("\u{1b}[97;40m") && $0.hasSuffix("\u{1b}[0m") })
    }
}
