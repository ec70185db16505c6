/// The SQLite file of a bot.
///
/// ```swift
/// let menu = try await context.services.database(
///     "menu", .plain, migrations: [["CREATE VIRTUAL TABLE dish USING fts5(name, tokenize = 'unicode61')"]])
/// try await menu.execute([BotStatement("INSERT INTO dish VALUES (?)", [.text("Masala Dosa")])])
/// let rows = try await menu.rows("SELECT name FROM dish WHERE dish MATCH ?", [.text("dosa")])
/// ```
///
/// Statements that select, change and define tables are permitted; others, such as `ATTACH` and `PRAGMA`, are refused
/// with `BotError.Code.invalidStatement`. The configuration limits the size of the file (`BotError.Code.databaseFull`)
/// and the time of a statement (`BotError.Code.statementTooLong`).
public protocol BotDatabase: Sendable {
    /// Runs the statements in one transaction, which is on disk when the call returns; a failure undoes all of them.
    func execute(_ statements: [BotStatement]) async throws(BotError)

    /// Returns the rows of a query: at most 10,000 of together 8 MiB, otherwise `BotError.Code.statementTooLong`.
    func rows(_ sql: String, _ arguments: [BotDatabaseValue]) async throws(BotError) -> [BotDatabaseRow]
}

extension BotDatabase {
    /// Returns the rows of a query without arguments.
    public func rows(_ sql: String) async throws(BotError) -> [BotDatabaseRow] { try await rows(sql, []) }

    /// Runs one statement.
    public func execute(_ sql: String, _ arguments: [BotDatabaseValue] = []) async throws(BotError) {
        try await execute([BotStatement(sql, arguments)])
    }
}

/// How the content of a database file is protected.
public enum BotDatabaseKind: String, Sendable, Hashable {
    /// Everything is readable in the file, which only the runtime's user can open. Full-text search is possible.
    case plain
    /// Texts and blobs are sealed one by one with the account's storage key: a value must be
    /// `sealed`, or `lookup` to find rows by it. Numbers, the schema and
    /// the number of rows stay readable. Virtual tables, and so full-text search, are refused: their index would
    /// contain the words.
    case sealed
}

/// An SQL statement with arguments for its `?` placeholders.
public struct BotStatement: Sendable, Hashable {
    /// One statement.
    public var sql: String
    /// The values of the placeholders, in order.
    public var arguments: [BotDatabaseValue]

    /// Creates a statement.
    public init(_ sql: String, _ arguments: [BotDatabaseValue] = []) {
        self.sql = sql
        self.arguments = arguments
    }
}

/// A value of a database.
public enum BotDatabaseValue: Sendable, Hashable {
    /// No value.
    case null
    /// A number.
    case integer(Int64)
    /// A number with a fraction.
    case real(Double)
    /// Text in the clear; refused as an argument in a sealed file.
    case text(String)
    /// Bytes in the clear; refused as an argument in a sealed file.
    case blob([UInt8])
    /// Bytes that the file contains sealed, and that rows contain opened.
    case sealed([UInt8])
    /// The keyed hash of bytes, by which a row can be found without storing them; as an argument only.
    case lookup([UInt8])

    /// The sealed UTF-8 of a text.
    public static func sealed(_ text: String) -> Self { .sealed(Array(text.utf8)) }
    /// The keyed hash of a text.
    public static func lookup(_ text: String) -> Self { .lookup(Array(text.utf8)) }
}

/// A row: values by column.
public struct BotDatabaseRow: Sendable, Hashable {
    /// The columns and their values; of several columns with one name, the first.
    public var values: [String: BotDatabaseValue]

    /// Creates a row, for tests.
    public init(_ values: [String: BotDatabaseValue]) { self.values = values }

    /// A text, sealed or not; nil for another kind of value.
    public func text(_ column: String) -> String? {
        switch values[column] {
        case .text(let text): text
        case .sealed(let bytes): String(validating: bytes, as: UTF8.self)
        default: nil
        }
    }

    /// A whole number; nil for another kind of value.
    public func integer(_ column: String) -> Int64? {
        guard case .integer(let number) = values[column] else { return nil }
        return number
    }

    /// A number, whole or not; nil for another kind of value.
    public func real(_ column: String) -> Double? {
        switch values[column] {
        case .real(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }

    /// Bytes, sealed or not; nil for another kind of value.
    public func blob(_ column: String) -> [UInt8]? {
        switch values[column] {
        case .blob(let bytes), .sealed(let bytes): bytes
        default: nil
        }
    }
}

/// Opens the database files of bots.
package protocol BotDatabases: Sendable {
    /// Opens or creates the file of a bot, and applies the migrations that it has not seen, each in one transaction.
    func database(
        _ name: String, of bot: String, _ kind: BotDatabaseKind, migrations: [[String]]
    ) async throws(BotError) -> any BotDatabase

    /// Opens the newest backup of a file for reading; nil if there is none.
    func backup(_ name: String, of bot: String, _ kind: BotDatabaseKind) async throws(BotError) -> (any BotDatabase)?
}

extension NoBotServices: BotDatabases {
    package func database(
        _ name: String, of bot: String, _ kind: BotDatabaseKind, migrations: [[String]]
    ) async throws(BotError) -> any BotDatabase {
        throw BotError(.storageFailed, "databases are not available here")
    }

    package func backup(
        _ name: String, of bot: String, _ kind: BotDatabaseKind
    ) async throws(BotError) -> (any BotDatabase)? { nil }
}
