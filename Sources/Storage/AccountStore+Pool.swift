import Dispatch
import GRDB

extension AccountStore {
    /// Opens the database in a mode where a commit is on disk when it returns, and deleted content is overwritten.
    ///
    /// - Parameter queue: a queue that other stores use too.
    static func openPool(_ path: String, on queue: DispatchQueue?) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "pikabot.state"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 4
        configuration.foreignKeysEnabled = true
        configuration.targetQueue = queue
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.writeWithoutTransaction { database in
            // GRDB silently sets NORMAL when it opens a pool, even after `prepareDatabase`.
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
            try Self.require("journal_mode", "wal", database)
            try Self.require("synchronous", "2", database)
            try Self.require("secure_delete", "1", database)
            try Self.require("foreign_keys", "1", database)
        }
        return pool
    }

    private static func require(_ pragma: String, _ expected: String, _ database: Database) throws {
        let value = try String.fetchOne(database, sql: "PRAGMA \(pragma)") ?? "nothing"
        guard value == expected else {
            throw StoreError(
                .io, "SQLite: expected \(pragma) = \(expected), found \(value); use a local file system")
        }
    }
}
