import Foundation
import Testing

/// An invalid configuration with all its messages, from the tables in `Wrong`:
///
///     == name [schema]
///     the YAML, with ␉, ␍, ␁ and ⟨BOM⟩ for characters that editors do not preserve
///     !! LINE:COLUMN: message
///
/// `[schema]` says that `config/schema.json` refuses it too.
struct WrongConfiguration: Sendable, CustomTestStringConvertible {
    let name: String
    let yaml: String
    let messages: [String]

    var testDescription: String { name }

    /// Errors found by the parser of the file.
    static let all = ["file", "accounts", "bots", "programs", "yaml"].flatMap(table)
    /// Errors found by the built-in bots in their settings.
    static let settings = table("settings")

    /// An unreadable table becomes a failing case.
    private static func table(_ name: String) -> [WrongConfiguration] {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        guard let text = try? String(contentsOf: folder.appending(path: "Wrong/\(name).txt"), encoding: .utf8) else {
            return [WrongConfiguration(name: "\(name).txt", yaml: "", messages: [])]
        }
        return text.split(separator: "\n== ").dropFirst().map { part in
            var lines = part.split(separator: "\n", omittingEmptySubsequences: false)
            let name = lines.removeFirst().prefix { $0 != " " }
            let messages = lines.filter { $0.hasPrefix("!! ") }.map { "bot.yaml:" + $0.dropFirst(3) }
            let yaml = lines.prefix { !$0.hasPrefix("!! ") }.map { $0 + "\n" }.joined()
            return WrongConfiguration(name: String(name), yaml: unescaped(yaml), messages: messages)
        }
    }

    private static func unescaped(_ text: String) -> String {
        [("␉", "\t"), ("␍", "\r"), ("␁", "\u{1}"), ("⟨BOM⟩", "\u{FEFF}")].reduce(text) {
            $0.replacingOccurrences(of: $1.0, with: $1.1)
        }
    }
}
