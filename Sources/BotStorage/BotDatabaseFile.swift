package import BotKit
import Foundation
import GRDB
package import Storage

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// One SQLite file of a bot, with the rules and limits of ``BotKit/BotDatabase``.
package final class BotDatabaseFile: BotDatabase {
    private let queue: DatabaseQueue
    private let kind: BotDatabaseKind
    private let sealer: ValueSealer
    private let limits: DatabaseLimits
    private let onFailure: @Sendable (BotError.Code) -> Void

    /// Opens or creates the file, and applies the migrations that it has not seen.
    ///
    /// The file must exist with mode 0600, because SQLite gives its journal the same mode. Throws
    /// `BotError.Code.storageFailed`, and `BotError.Code.invalidStatement` for a migration.
    package static func open(
        _ path: String, _ kind: BotDatabaseKind, migrations: [[String]], sealer: ValueSealer, limits: DatabaseLimits,
        onFailure: @escaping @Sendable (BotError.Code) -> Void = { _ in }
    ) async throws(BotError) -> BotDatabaseFile {
        for sql in migrations.joined() { try StatementRule.check(sql, kind, []) }
        let file = try BotDatabaseFile(path, kind, sealer, limits, isReadOnly: false, onFailure)
        try await file.write { try Self.migrate($0, kind, migrations) }
        return file
    }

    /// Opens a backup for reading.
    package static func openBackup(
        _ path: String, _ kind: BotDatabaseKind, sealer: ValueSealer, limits: DatabaseLimits
    ) throws(BotError) -> BotDatabaseFile {
        try BotDatabaseFile(path, kind, sealer, limits, isReadOnly: true)
    }

    private init(
        _ path: String, _ kind: BotDatabaseKind, _ sealer: ValueSealer, _ limits: DatabaseLimits, isReadOnly: Bool,
        _ onFailure: @escaping @Sendable (BotError.Code) -> Void = { _ in }
    ) throws(BotError) {
        var configuration = GRDB.Configuration()
        configuration.label = "pikabot.bot"
        configuration.busyMode = .timeout(5)
        configuration.readonly = isReadOnly
        if !isReadOnly {
            let size = limits.bytes
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA synchronous = FULL")
                try database.execute(sql: "PRAGMA secure_delete = ON")
                let page = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
                let pages = max(16, min(size / max(512, page), Int(UInt32.max) - 2))
                _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages)")
            }
        }
        do { queue = try DatabaseQueue(path: path, configuration: configuration) } catch {
            throw BotDatabaseFile.error(error)
        }
        self.kind = kind
        self.sealer = sealer
        self.limits = limits
        self.onFailure = onFailure
    }

    package func close() throws(BotError) {
        do { try queue.close() } catch { throw Self.error(error) }
    }

    // MARK: Statements

    package func execute(_ statements: [BotStatement]) async throws(BotError) {
        for statement in statements { try StatementRule.check(statement.sql, kind, statement.arguments) }
        let sealer = sealer
        try await write { database in
            for statement in statements {
                let prepared = try database.makeStatement(sql: statement.sql)
                try prepared.execute(arguments: Self.arguments(statement.arguments, sealer))
            }
        }
    }

    package func rows(_ sql: String, _ arguments: [BotDatabaseValue]) async throws(BotError) -> [BotDatabaseRow] {
        try StatementRule.check(sql, kind, arguments)
        let (kind, sealer, limits) = (kind, sealer, limits)
        return try await read { database in
            let statement = try database.makeStatement(sql: sql)
            guard statement.isReadonly else {
                throw BotError(.invalidStatement, "a query must not change the database")
            }
            let cursor = try Row.fetchCursor(statement, arguments: Self.arguments(arguments, sealer))
            var rows: [BotDatabaseRow] = []
            var bytes = 0
            while let row = try cursor.next() {
                let (values, size) = try Self.values(row, kind, sealer)
                guard rows.count < limits.rows, size <= limits.resultBytes - bytes else {
                    throw BotError(
                        .statementTooLong, "a query may return \(limits.rows) rows of \(limits.resultBytes) bytes")
                }
                bytes += size
                rows.append(BotDatabaseRow(values))
            }
            return rows
        }
    }

    // MARK: Backup

    /// Copies the file to another path while it is in use; an existing copy is replaced once the new one is complete.
    package func backUp(to path: String) async throws(BotError) {
        let draft = "\(path).new"
        do {
            try? FileManager.default.removeItem(atPath: draft)
            guard
                FileManager.default.createFile(atPath: draft, contents: nil, attributes: [.posixPermissions: 0o600])
            else { throw BotError(.storageFailed, "cannot create the backup file") }
            let copy = try DatabaseQueue(path: draft)
            try queue.backup(to: copy)
            let answer = try await copy.read { try String.fetchOne($0, sql: "PRAGMA integrity_check(1)") }
            try copy.close()
            guard answer == "ok" else { throw BotError(.storageFailed, "the backup is damaged") }
            guard rename(draft, path) == 0 else { throw BotError(.storageFailed, "cannot rename the backup") }
        } catch {
            try? FileManager.default.removeItem(atPath: draft)
            throw Self.error(error)
        }
    }

    // MARK: Migrations

    private static func migrate(_ database: Database, _ kind: BotDatabaseKind, _ migrations: [[String]]) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS pikabot_file (
                    id INTEGER PRIMARY KEY CHECK (id = 1), kind TEXT NOT NULL, applied INTEGER NOT NULL)
                """)
        try database.execute(
            sql: "INSERT OR IGNORE INTO pikabot_file VALUES (1, ?, 0)", arguments: [kind.rawValue])
        let row = try Row.fetchOne(database, sql: "SELECT kind, applied FROM pikabot_file")
        let stored: String? = row?["kind"]
        guard let row, stored == kind.rawValue else {
            throw BotError(.storageFailed, "the database file exists with the other kind of protection")
        }
        let applied: Int = row["applied"]
        guard (0...migrations.count).contains(applied) else {
            throw BotError(.storageFailed, "the database file was written by a newer version of the bot")
        }
        for sql in migrations[applied...].joined() {
            try database.makeStatement(sql: sql).execute()
        }
        try database.execute(sql: "UPDATE pikabot_file SET applied = ?", arguments: [migrations.count])
    }

    // MARK: Values

    private static func arguments(_ values: [BotDatabaseValue], _ sealer: ValueSealer) -> StatementArguments {
        StatementArguments(
            values.map { value -> (any DatabaseValueConvertible)? in
                switch value {
                case .null: nil
                case .integer(let number): number
                case .real(let number): number
                case .text(let text): text
                case .blob(let bytes): Data(bytes)
                case .sealed(let bytes): Data(sealer.seal(bytes))
                case .lookup(let bytes): Data(sealer.lookup(bytes))
                }
            })
    }

    private static func values(
        _ row: Row, _ kind: BotDatabaseKind, _ sealer: ValueSealer
    ) throws -> (values: [String: BotDatabaseValue], bytes: Int) {
        var values: [String: BotDatabaseValue] = [:]
        var size = 0
        for (column, stored) in row {
            let value: BotDatabaseValue
            switch stored.storage {
            case .null: value = .null
            case .int64(let number): value = .integer(number)
            case .double(let number): value = .real(number)
            case .string(let text):
                value = .text(text)
                size += text.utf8.count
            case .blob(let data):
                size += data.count
                // A shorter blob is a lookup.
                let isSealed = kind == .sealed && data.count >= ValueSealer.overhead
                value = isSealed ? .sealed(try sealer.open(Array(data))) : .blob(Array(data))
            }
            size += column.utf8.count + 8
            if values[column] == nil { values[column] = value }
        }
        return (values, size)
    }

    // MARK: Access

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BotError) -> Value {
        let queue = queue
        return try await access({ try queue.write(body) }, { try await queue.write(body) })
    }

    private func read<Value: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value
    ) async throws(BotError) -> Value {
        let queue = queue
        return try await access({ try queue.read(body) }, { try await queue.read(body) })
    }

    /// Runs under the time limit: the cancelled access is interrupted by SQLite and rolled back.
    private func access<Value: Sendable>(
        _ blocking: () throws -> Value, _ suspending: @escaping @Sendable () async throws -> Value
    ) async throws(BotError) -> Value {
        do {
            guard let timeout = limits.timeout else { return try blocking() }
            return try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask { try await suspending() }
                group.addTask {
                    try await Task.sleep(for: timeout)
                    return nil
                }
                defer { group.cancelAll() }
                guard let value = try await group.next() ?? nil else {
                    throw BotError(.statementTooLong, "the statements took longer than \(timeout)")
                }
                return value
            }
        } catch {
            let failure = Self.error(error)
            onFailure(failure.code)
            throw failure
        }
    }

    private static func error(_ error: any Error) -> BotError {
        if let error = error as? BotError { return error }
        if let error = error as? StoreError { return BotError(.storageFailed, error.message) }
        if error is CancellationError { return BotError(.storageFailed, "the access was cancelled") }
        guard let failure = error as? DatabaseError else {
            return BotError(.storageFailed, "the database operation failed")
        }
        // Messages of SQLite name tables and columns, not values.
        let text = failure.message ?? "unknown reason"
        switch failure.resultCode {
        case .SQLITE_FULL: return BotError(.databaseFull, "the file has reached its limit, or the disk is full")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: return BotError(.statementTooLong, "the statement was interrupted")
        case .SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_RANGE, .SQLITE_TOOBIG, .SQLITE_READONLY,
            .SQLITE_MISUSE:
            return BotError(.invalidStatement, text)
        default: return BotError(.storageFailed, text)
        }
    }
}
