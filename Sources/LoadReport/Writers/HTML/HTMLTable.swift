/// An HTML table.
struct HTMLTable {
    /// A column's layout, with its title.
    enum Column {
        case text(String), number(String), key(String), wide(String)
    }

    private let columns: [Column]
    private var rows: [String] = []

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row of text cells, which are escaped here.
    mutating func add(_ cells: [String]) { add(markup: cells.map(Self.text)) }

    /// Adds a row of cells that are already markup.
    mutating func add(markup cells: [String]) {
        rows.append("<tr>" + zip(columns, cells).map { "<td\($0.attribute)>\($1)</td>" }.joined() + "</tr>")
    }

    var isEmpty: Bool { rows.isEmpty }

    var html: String {
        let head = columns.map { "<th\($0.isNumber ? " class=\"n\"" : "")>\(Self.text($0.title))</th>" }.joined()
        return "<div class=\"card scroll\"><table><thead><tr>\(head)</tr></thead><tbody>\n"
            + rows.joined(separator: "\n") + "\n</tbody></table></div>"
    }

    /// Escapes untrusted text.
    static func text(_ text: String) -> String { Markup.escaped(SafeText.line(text)) }
}

extension HTMLTable.Column {
    fileprivate var title: String {
        switch self {
        case .text(let title), .number(let title), .key(let title), .wide(let title): title
        }
    }

    fileprivate var isNumber: Bool {
        if case .number = self { true } else { false }
    }

    fileprivate var attribute: String {
        switch self {
        case .text: ""
        case .number: " class=\"n\""
        case .key: " class=\"k\""
        case .wide: " class=\"w\""
        }
    }
}
