/// A QR code in byte mode (ISO/IEC 18004), versions 1 to 10.
struct QRCode: Sendable {
    let version: QRVersion
    let level: QRLevel
    /// The number of the mask, 0 to 7.
    let mask: Int
    private let modules: [[Bool]]

    /// Creates the smallest symbol that holds the text; nil if it is too long (271 bytes at level low, 213 at medium).
    ///
    /// - Parameter mask: nil for the mask with the lowest penalty.
    init?(_ text: String, level: QRLevel, mask: Int? = nil) {
        let bytes = Array(text.utf8)
        let versions = QRVersion.all.map { QRVersion($0, level) }
        guard let version = versions.first(where: { bytes.count <= $0.capacity }) else { return nil }
        var canvas = QRCanvas(version)
        canvas.drawFunctionPatterns()
        canvas.draw(QRCodewords.interleaved(bytes, version))
        let candidates = (mask.map { [$0] } ?? Array(0..<8)).map { mask in (mask, canvas.masked(mask, level)) }
        guard let best = candidates.min(by: { $0.1.penalty < $1.1.penalty }) else { return nil }
        self.version = version
        self.level = level
        self.mask = best.0
        self.modules = best.1.modules
    }

    var size: Int { version.size }

    /// Whether a module is dark; coordinates outside the symbol are in the quiet zone.
    subscript(row: Int, column: Int) -> Bool {
        (0..<size).contains(row) && (0..<size).contains(column) && modules[row][column]
    }

    /// Renders two rows of modules per line, with a quiet zone of four modules around the symbol.
    ///
    /// - Parameter isColored: whether to set colours, so that dark modules are dark on every terminal; otherwise only
    ///   light modules are drawn, which is correct on a dark background.
    func terminalText(isColored: Bool) -> String {
        let lines = stride(from: -4, to: size + 4, by: 2).map { row in
            let line = (-4..<size + 4).map { column in
                switch (self[row, column], self[row + 1, column]) {
                case (false, false): "█"
                case (false, true): "▀"
                case (true, false): "▄"
                case (true, true): " "
                }
            }.joined()
            return isColored ? "\u{1b}[97;40m\(line)\u{1b}[0m" : line
        }
        return lines.joined(separator: "\n")
    }
}

/// Encoder of a symbol's codewords (ISO/IEC 18004 §7.4 and §7.6).
enum QRCodewords {
    /// Returns mode, length, bytes, terminator and padding.
    static func data(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, version.lengthBits)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, version.dataCount * 8 - bits.count))
        append(0, (8 - bits.count % 8) % 8)
        var codewords = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(UInt8(0)) { $0 << 1 | ($1 ? 1 : 0) }
        }
        var isFirst = true
        while codewords.count < version.dataCount {
            codewords.append(isFirst ? 0xec : 0x11)
            isFirst.toggle()
        }
        return codewords
    }

    /// Returns the data and correction codewords of all blocks, interleaved.
    static func interleaved(_ bytes: [UInt8], _ version: QRVersion) -> [UInt8] {
        var rest = data(bytes, version)[...]
        var blocks: [[UInt8]] = []
        for length in version.blockLengths {
            blocks.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        let corrections = blocks.map { ReedSolomon.correction(of: $0, length: version.correctionLength) }
        return interleave(blocks) + interleave(corrections)
    }

    private static func interleave(_ blocks: [[UInt8]]) -> [UInt8] {
        let longest = blocks.map(\.count).max() ?? 0
        return (0..<longest).flatMap { index in blocks.compactMap { index < $0.count ? $0[index] : nil } }
    }
}
