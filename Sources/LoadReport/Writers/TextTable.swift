/// Text table whose columns are as wide as their widest cell.
struct TextTable {
    private let header: [String]
    private let left: Set<Int>
    private var rows: [[String]] = []

    /// - Parameter left: Left-aligned columns; the others hold numbers and are right-aligned.
    init(_ header: [String], left: Set<Int>) {
        self.header = header
        self.left = left
    }

    mutating func add(_ row: [String]) { rows.append(row.map(SafeText.line)) }

    var lines: [String] {
        let all = [header] + rows
        let widths = header.indices.map { column in all.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0 }
        return all.map { row in
            let cells = row.enumerated().map { column, cell in
                pad(cell, to: widths[column], left: left.contains(column))
            }
            return trimmed(cells.joined(separator: "  "))
        }
    }

    private func pad(_ cell: String, to width: Int, left: Bool) -> String {
        let space = String(repeating: " ", count: max(0, width - cell.count))
        return left ? cell + space : space + cell
    }

    private func trimmed(_ line: String) -> String {
        String(line.reversed().drop { $0 == " " }.reversed())
    }
}
