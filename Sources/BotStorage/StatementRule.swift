import BotKit

/// Decides which SQL statements a bot may run.
///
/// Only statements that begin with a permitted word are accepted. So a bot can neither reach other files (`ATTACH`,
/// `VACUUM INTO`) nor change settings that durability and limits depend on (`PRAGMA`), nor end the transaction.
enum StatementRule {
    private static let permitted: Set<String> = [
        "SELECT", "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "VALUES", "CREATE", "DROP", "ALTER", "ANALYZE",
    ]
    static let maximumBytes = 64 << 10

    /// Throws `BotError.Code.invalidStatement`.
    static func check(_ sql: String, _ kind: BotDatabaseKind, _ arguments: [BotDatabaseValue]) throws(BotError) {
        guard sql.utf8.count <= maximumBytes else {
            throw BotError(.invalidStatement, "a statement may have at most \(maximumBytes) bytes")
        }
        let words = firstWords(sql)
        guard let first = words.first, permitted.contains(first) else {
            throw BotError(.invalidStatement, "statements of the kind \(words.first ?? "(empty)") are not permitted")
        }
        if kind == .sealed, first == "CREATE", words.dropFirst().first == "VIRTUAL" {
            throw BotError(
                .invalidStatement, "a sealed file cannot have virtual tables: their index would contain the words")
        }
        for argument in arguments {
            switch (kind, argument) {
            case (.sealed, .text), (.sealed, .blob):
                throw BotError(.invalidStatement, "a sealed file takes texts and blobs as `sealed` or `lookup` only")
            case (.plain, .sealed), (.plain, .lookup):
                throw BotError(.invalidStatement, "a plain file has no sealed values")
            default: break
            }
        }
    }

    /// The first two words in upper case, without comments before and between them.
    private static func firstWords(_ sql: String) -> [String] {
        var rest = Substring(sql)
        var words: [String] = []
        while words.count < 2 {
            rest = rest.drop { $0.isWhitespace }
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*") {
                guard let end = rest.firstRange(of: "*/") else { return words }
                rest = rest[end.upperBound...]
            } else {
                let word = rest.prefix { $0.isLetter }
                guard !word.isEmpty else { return words }
                words.append(word.uppercased())
                rest = rest.dropFirst(word.count)
            }
        }
        return words
    }
}
