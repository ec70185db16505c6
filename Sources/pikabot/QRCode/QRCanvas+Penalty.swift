extension QRCanvas {
    /// Penalty score of a masked symbol; lower is better (ISO/IEC 18004 §7.8.3).
    var penalty: Int {
        let columns = modules.indices.map { column in modules.map { $0[column] } }
        let lines = (modules + columns).reduce(0) { $0 + Self.runs(in: $1) + Self.finders(in: $1) }
        return lines + blocks + balance
    }

    /// Penalises runs of five or more modules of one colour.
    private static func runs(in line: [Bool]) -> Int {
        var points = 0
        var length = 0
        for (index, module) in line.enumerated() {
            length = index > 0 && line[index - 1] == module ? length + 1 : 1
            if length == 5 { points += 3 } else if length > 5 { points += 1 }
        }
        return points
    }

    /// Penalises finder-like patterns with four light modules on one side.
    private static func finders(in line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        let light = [false, false, false, false]
        let patterns = [finder + light, light + finder]
        guard line.count >= 11 else { return 0 }
        return (0...line.count - 11).reduce(0) { points, start in
            points + (patterns.contains { $0.elementsEqual(line[start..<start + 11]) } ? 40 : 0)
        }
    }

    /// Penalises 2×2 blocks of one colour.
    private var blocks: Int {
        var points = 0
        for row in modules.indices.dropLast() {
            for column in modules.indices.dropLast() {
                let color = modules[row][column]
                if modules[row][column + 1] == color, modules[row + 1][column] == color,
                    modules[row + 1][column + 1] == color
                {
                    points += 3
                }
            }
        }
        return points
    }

    /// Penalises imbalance: 10 for each 5 % that the share of dark modules differs from one half.
    private var balance: Int {
        let total = modules.count * modules.count
        let dark = modules.joined().count { $0 }
        return abs(dark * 20 - total * 10) / total * 10
    }
}
