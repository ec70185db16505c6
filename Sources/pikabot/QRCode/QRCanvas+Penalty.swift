extension QRCanvas {
    /// How badly a masked symbol reads: the lower, the better (ISO/IEC 18004 §7.8.3).
    var penalty: Int {
        let columns = modules.indices.map { column in modules.map { $0[column] } }
        let lines = (modules + columns).reduce(0) { $0 + Self.runs(in: $1) + Self.finders(in: $1) }
        return lines + blocks + balance
    }

    /// Five and more of one colour in a line.
    private static func runs(in line: [Bool]) -> Int {
        var points = 0
        var length = 0
        for (index, module) in line.enumerated() {
            length = index > 0 && line[index - 1] == module ? length + 1 : 1
            if length == 5 { points += 3 } else if length > 5 { points += 1 }
        }
        return points
    }

    /// What looks like a finder, with four light modules on a side.
    private static func finders(in line: [Bool]) -> Int {
        let finder = [true, false, true, true, true, false, true]
        let light = [false, false, false, false]
        let patterns = [finder + light, light + finder]
        guard line.count >= 11 else { return 0 }
        return (0...line.count - 11).reduce(0) { points, start in
            points + (patterns.contains { $0.elementsEqual(line[start..<start + 11]) } ? 40 : 0)
        }
    }

    /// Two by two of one colour.
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

    /// Ten for each 5 % that the dark ones are away from one half.
    private var balance: Int {
        let total = modules.count * modules.count
        let dark = modules.joined().count { $0 }
        return abs(dark * 20 - total * 10) / total * 10
    }
}
