/// The modules of a symbol under construction (ISO/IEC 18004 §6.3 and §7.7 to §7.10).
struct QRCanvas: Sendable {
    private let version: QRVersion
    private(set) var modules: [[Bool]]
    /// Function and format modules, which carry no data and are not masked.
    private var isFixed: [[Bool]]

    init(_ version: QRVersion) {
        self.version = version
        let empty = [[Bool]](repeating: [Bool](repeating: false, count: version.size), count: version.size)
        modules = empty
        isFixed = empty
    }

    private var size: Int { version.size }

    private mutating func fix(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard (0..<size).contains(row), (0..<size).contains(column) else { return }
        modules[row][column] = isDark
        isFixed[row][column] = true
    }

    // MARK: Function patterns

    mutating func drawFunctionPatterns() {
        for index in 0..<size {
            fix(6, index, index.isMultiple(of: 2))
            fix(index, 6, index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] { drawFinder(row, column) }
        let centres = version.alignmentCentres
        for row in centres {
            for column in centres where !isFinderCorner(row, column) { drawAlignment(row, column) }
        }
        drawFormat(0)
        drawVersion()
    }

    /// Whether an alignment pattern would overlap a finder pattern.
    private func isFinderCorner(_ row: Int, _ column: Int) -> Bool {
        let far = size - 7
        return [(6, 6), (6, far), (far, 6)].contains { $0 == (row, column) }
    }

    /// Draws a finder pattern with its separator.
    private mutating func drawFinder(_ row: Int, _ column: Int) {
        for y in -4...4 {
            for x in -4...4 {
                let distance = max(abs(x), abs(y))
                fix(row + y, column + x, distance != 2 && distance != 4)
            }
        }
    }

    private mutating func drawAlignment(_ row: Int, _ column: Int) {
        for y in -2...2 {
            for x in -2...2 { fix(row + y, column + x, max(abs(x), abs(y)) != 1) }
        }
    }

    /// Draws the 15 format bits twice, and the module that is always dark (§7.9).
    private mutating func drawFormat(_ bits: Int) {
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            switch index {
            case 0..<6: fix(index, 8, isDark)
            case 6..<8: fix(index + 1, 8, isDark)
            case 8: fix(8, 7, isDark)
            default: fix(8, 14 - index, isDark)
            }
            if index < 8 { fix(8, size - 1 - index, isDark) } else { fix(size - 15 + index, 8, isDark) }
        }
        fix(size - 8, 8, true)
    }

    static func formatBits(_ level: QRLevel, _ mask: Int) -> Int {
        let data = level.formatBits << 3 | mask
        return (data << 10 | remainder(data, by: 0x537, bits: 10)) ^ 0x5412
    }

    /// Draws the 18 version bits twice, from version 7 on (§7.10).
    private mutating func drawVersion() {
        guard version.number >= 7 else { return }
        let bits = version.number << 12 | Self.remainder(version.number, by: 0x1f25, bits: 12)
        for index in 0..<18 {
            let (near, far) = (index / 3, size - 11 + index % 3)
            fix(near, far, bits >> index & 1 == 1)
            fix(far, near, bits >> index & 1 == 1)
        }
    }

    /// Returns the remainder of `data` times 2^bits, divided by a polynomial over GF(2) of degree `bits`.
    private static func remainder(_ data: Int, by polynomial: Int, bits: Int) -> Int {
        var value = data
        for _ in 0..<bits { value = value << 1 ^ (value >> (bits - 1) & 1) * polynomial }
        return value
    }

    // MARK: Data

    /// Draws codewords in column pairs from right to left, alternately upwards and downwards.
    mutating func draw(_ codewords: [UInt8]) {
        let masks: [UInt8] = [128, 64, 32, 16, 8, 4, 2, 1]
        var bits = codewords.flatMap { (byte: UInt8) -> [Bool] in masks.map { byte & $0 != 0 } }.makeIterator()
        for (turn, right) in columns.enumerated() {
            let rows = turn.isMultiple(of: 2) ? Array((0..<size).reversed()) : Array(0..<size)
            for row in rows {
                for column in [right, right - 1] where !isFixed[row][column] {
                    // Remaining modules stay light.
                    modules[row][column] = bits.next() ?? false
                }
            }
        }
    }

    /// The right columns of the pairs; skips the column of the timing pattern.
    private var columns: [Int] {
        stride(from: size - 1, to: 6, by: -2).map { $0 } + stride(from: 5, to: 0, by: -2).map { $0 }
    }

    // MARK: Masks

    func masked(_ mask: Int, _ level: QRLevel) -> QRCanvas {
        var canvas = self
        for row in 0..<size {
            for column in 0..<size where !isFixed[row][column] && Self.inverts(mask, row, column) {
                canvas.modules[row][column].toggle()
            }
        }
        canvas.drawFormat(Self.formatBits(level, mask))
        return canvas
    }

    private static func inverts(_ mask: Int, _ row: Int, _ column: Int) -> Bool {
        let product = row * column
        return switch mask {
        case 0: (row + column) % 2 == 0
        case 1: row % 2 == 0
        case 2: column % 3 == 0
        case 3: (row + column) % 3 == 0
        case 4: (row / 2 + column / 3) % 2 == 0
        case 5: product % 2 + product % 3 == 0
        case 6: (product % 2 + product % 3) % 2 == 0
        default: ((row + column) % 2 + product % 3) % 2 == 0
        }
    }
}
