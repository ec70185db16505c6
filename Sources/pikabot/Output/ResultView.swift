import BotProgram
import Foundation
import Nostr

/// Layout of a command's JSON result for people.
enum ResultView: Sendable {
    /// One name and value per line.
    case record
    /// A table of one member's elements; prints `none` for an empty list.
    case list(of: String, [Column], none: String)

    struct Column: Sendable {
        let title: String
        let member: String
        var form = Form.plain

        init(_ title: String, _ member: String, _ form: Form = .plain) {
            self.title = title
            self.member = member
            self.form = form
        }
    }

    enum Form: Sendable {
        case plain
        /// A time in Unix seconds.
        case time
        /// A public key, as an abbreviated npub.
        case person
        /// A list of file names.
        case files
    }

    /// Returns the text without a trailing line feed.
    func text(_ result: JSONValue, timeZone: TimeZone = .current) -> String {
        switch self {
        case .record: return Self.record(result)
        case .list(let name, let columns, let none):
            let elements = result[name]?.array ?? []
            guard !elements.isEmpty else { return none }
            let rows = elements.map { element in
                columns.map { $0.form.text(element[$0.member] ?? .null, timeZone) }
            }
            return Self.table([columns.map(\.title)] + rows)
        }
    }

    /// Returns one element as a line.
    static func line(_ element: JSONValue, _ columns: [Column], timeZone: TimeZone = .current) -> String {
        columns.map { $0.form.text(element[$0.member] ?? .null, timeZone) }.joined(separator: "  ")
    }

    private static func record(_ result: JSONValue) -> String {
        guard let members = result.object?.members, !members.isEmpty else { return "done" }
        let pairs = members.flatMap { member in
            member.value.object?.members.map { ("\(member.name).\($0.name)", $0.value) } ?? [
                (member.name, member.value)
            ]
        }
        return table(pairs.map { [$0.0, Form.plain.text($0.1, .current)] })
    }

    /// Formats rows with two spaces between columns; the last column is not padded.
    private static func table(_ rows: [[String]]) -> String {
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let lines = rows.map { row in
            row.enumerated().map { column, cell in
                column == count - 1 ? cell : cell + String(repeating: " ", count: widths[column] - cell.count)
            }.joined(separator: "  ")
        }
        return lines.joined(separator: "\n")
    }
}

extension ResultView.Form {
    fileprivate func text(_ value: JSONValue, _ timeZone: TimeZone) -> String {
        switch self {
        case .time:
            guard let seconds = value.integer else { return "-" }
            let style = Date.ISO8601FormatStyle(dateTimeSeparator: .space, timeZone: timeZone)
                .year().month().day().time(includingFractionalSeconds: false)
            return Date(timeIntervalSince1970: Double(seconds)).formatted(style)
        case .person: return value.string.flatMap { try? PublicKey(hex: $0) }.map { String($0.npub.prefix(16)) } ?? "-"
        case .files:
            return (value.array ?? []).compactMap { $0["filename"]?.string?.printable }.joined(separator: ", ")
        case .plain:
            switch value {
            case .null: return "-"
            case .string(let text): return text.printable
            case .bool(let value): return value ? "yes" : "no"
            default: return value.jsonText.printable
            }
        }
    }
}

extension String {
    /// The text made safe for a terminal line: untrusted text must not move the cursor or change colours.
    var printable: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate:
                        // U+200D joins emoji.
                        scalar == "\u{200D}" ? scalar : scalar == "\n" ? "\u{23CE}" : "\u{FFFD}"
                    default: scalar
                    }
                }))
    }
}

extension Console {
    /// Prints a result: as JSON to a pipe or on request, formatted on a terminal.
    static func print(_ result: JSONValue, as view: ResultView, _ options: ClientOptions) {
        Console.printText(options.isForPeople ? view.text(result) : result.prettyText)
    }

    /// Prints a progress message if standard error is a terminal.
    static func progress(_ text: String) {
        if isatty(STDERR_FILENO) == 1 { printError(text) }
    }
}
