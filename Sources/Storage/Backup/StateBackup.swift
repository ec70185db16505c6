import GRDB
import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Backups of an account's state: one file of mode 0600 with consistent copies of its database and of its bots'.
///
/// Values stay sealed in it. A restore needs the account's sealing key, which the backup does not contain; nor does it
/// contain the account's own key. Damage is detected (SHA-256); deliberate changes to rows are detected only in sealed
/// values.
package enum StateBackup {
    /// Writes a backup of the state in `directory` to `file`, atomically replacing an existing file.
    ///
    /// The account may be running: the copy is a consistent snapshot between two of its commits. Returns the size of
    /// the backup in bytes. Throws ``StoreError``.
    @discardableResult
    package static func write(of directory: String, to file: String) throws(StoreError) -> Int {
        let source = StateDirectory.databasePath(in: directory)
        guard access(source, F_OK) == 0 else {
            throw StoreError(.noState, "\(directory): contains no state; name an account's directory")
        }
        // SQLite opens the copy by name, so it is created in a directory where other users cannot place a link.
        let folder = try StoreFile.makeFolder(beside: file)
        let copy = "\(folder)/copy.sqlite"
        let draft = "\(folder)/backup"
        let part = "\(folder)/part.sqlite"
        defer {
            for name in [copy, "\(copy)-journal", draft, part, "\(part)-journal"] { unlink(name) }
            rmdir(folder)
        }
        do {
            close(try StoreFile.open(copy, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW))
            try Self.copyDatabase(source, to: copy)
            try Self.addBotFiles(of: directory, to: copy, draft: part)
            return try Self.pack(copy, into: draft, file)
        } catch { throw (error as? StoreError) ?? StoreError(error, database: source) }
    }

    /// Restores a backup into `directory`, which is created if needed and must not contain a state.
    ///
    /// The restored state is another copy of the account (``PikaCore/StoredInstance``): on its first start it renews
    /// its keys in every group. A failure leaves nothing behind.
    /// - Parameters:
    ///   - sealingKey: the key of the account that was backed up; any other key is refused.
    ///   - nowMilliseconds: Unix milliseconds.
    package static func restore(
        _ file: String, to directory: String, sealingKey: SealingKey, nowMilliseconds: Int64,
        program: String = "pikabot restore"
    ) throws(StoreError) {
        try Self.check(file)
        let isNew = access(directory, F_OK) != 0
        let state = try StateDirectory(preparing: directory)
        let draft = StoreFile.draftPath(beside: "\(state.path)/restored.sqlite")
        var isDone = false
        var botFiles: [String] = []
        defer {
            for name in [draft, "\(draft)-journal", "\(draft)-wal", "\(draft)-shm"] { unlink(name) }
            if !isDone { Self.remove(botFiles) }
            if isNew, !isDone {
                unlink("\(state.path)/lock")
                rmdir(state.path)
            }
        }
        let lock = try StateDirectoryLock(directory: state.path, program: program)
        defer { lock.release() }
        for name in ["", "-wal", "-journal"] where access(state.databasePath + name, F_OK) == 0 {
            throw StoreError(.stateExists, "\(state.databasePath)\(name): already exists; name another directory")
        }
        do {
            try Self.unpack(file, into: draft)
            try Self.beginInstance(draft, sealingKey, nowMilliseconds)
            botFiles = try Self.placeBotFiles(draft, of: file, in: state.path)
            try StoreFile.synchronize(draft)
        } catch { throw (error as? StoreError) ?? Self.damaged(file, error) }
        guard rename(draft, state.databasePath) == 0 else {
            throw StoreError(errno: errno, "cannot rename", state.databasePath)
        }
        isDone = true
        try StoreFile.synchronizeDirectory(of: state.databasePath)
    }

    static func damaged(_ file: String, _ cause: (any Error)? = nil) -> StoreError {
        StoreError(.badBackup, "\(file): the backup is damaged; use another one", cause: cause)
    }

    // MARK: SQLite

    /// Copies within one transaction, so that a running account is not disturbed; deleted content is not in the copy.
    private static func copyDatabase(_ source: String, to copy: String) throws {
        var configuration = GRDB.Configuration()
        configuration.label = "pikabot.backup"
        configuration.busyMode = .timeout(5)
        let queue = try DatabaseQueue(path: source, configuration: configuration)
        try queue.writeWithoutTransaction { database in
            guard try database.tableExists("meta") else {
                throw StoreError(.corrupt, "\(source): not an account database")
            }
            try database.execute(sql: "VACUUM INTO ?", arguments: [copy])
        }
        try queue.close()
        let written = try DatabaseQueue(path: copy)
        try written.writeWithoutTransaction { try Self.checkIntegrity($0, copy) }
        try written.close()
    }

    private static func beginInstance(_ path: String, _ key: SealingKey, _ now: Int64) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA journal_mode = DELETE")
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try Self.checkIntegrity(database, path)
            guard try Metadata.verify(database, key: key, account: nil) != nil else { throw Self.damaged(path) }
        }
        try Migrations.all.migrate(queue)
        try queue.write { try Metadata.beginInstance($0, nowMilliseconds: now) }
        try queue.close()
        try StoreFile.synchronize(path)
    }

    static func checkIntegrity(_ database: Database, _ path: String) throws {
        let answer = try String.fetchOne(database, sql: "PRAGMA integrity_check(1)")
        guard answer == "ok" else {
            throw StoreError(.corrupt, "\(path): SQLite integrity check: \(answer ?? "nothing")")
        }
    }
}
