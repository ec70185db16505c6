import Foundation
import GRDB
import ProcessSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The bots' database files, which a backup contains as pieces in a table of its copy of the account's database.
///
/// Sealed values stay sealed. A program that does not know the table restores the account without these files.
extension StateBackup {
    private static let table = "backup_bot_file"
    /// The length of a piece in bytes.
    private static let pieceLength = 1 << 20
    /// The maximum number of bots, and of files of each.
    private static let maximumNames = 256

    // MARK: Writing

    /// Adds copies of all files in `bots` of the account's directory, each consistent in itself: bots may use them.
    ///
    /// - Parameter draft: A path for temporary files; the caller removes it.
    static func addBotFiles(of directory: String, to copy: String, draft: String) throws {
        let files = try Self.botFiles(in: directory)
        let queue = try DatabaseQueue(path: copy)
        try queue.write { database in
            // An older program has restored the account, and kept it.
            try database.execute(sql: "DROP TABLE IF EXISTS \(Self.table)")
            guard !files.isEmpty else { return }
            try database.execute(
                sql: """
                    CREATE TABLE \(Self.table) (
                        name TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (name, number))
                    """)
            for name in files {
                try Self.copyBotFile("\(directory)/bots/\(name)", to: draft)
                try Self.add(draft, as: name, to: database)
                unlink(draft)
            }
        }
        try queue.close()
    }

    /// The files as `BOT/NAME.sqlite`, sorted. Copies beside them, and whatever else is there, are left out.
    private static func botFiles(in directory: String) throws -> [String] {
        let manager = FileManager.default
        let folder = "\(directory)/bots"
        guard manager.fileExists(atPath: folder) else { return [] }
        var files: [String] = []
        for bot in try manager.contentsOfDirectory(atPath: folder) where Self.isName(bot[...]) {
            let names = try manager.contentsOfDirectory(atPath: "\(folder)/\(bot)")
            files += names.map { "\(bot)/\($0)" }.filter(Self.isBotFile)
        }
        return files.sorted()
    }

    private static func copyBotFile(_ source: String, to draft: String) throws {
        unlink(draft)
        close(try StoreFile.open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW))
        do {
            var configuration = GRDB.Configuration()
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: source, configuration: configuration)
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [draft]) }
            try queue.close()
            let written = try DatabaseQueue(path: draft)
            try written.writeWithoutTransaction { try Self.checkIntegrity($0, source) }
            try written.close()
        } catch {
            let reason = (error as? StoreError)?.message ?? (error as? DatabaseError)?.message ?? "\(error)"
            throw StoreError(
                .corrupt, "\(source): cannot be copied (\(reason)); restore its last copy, or move it away",
                cause: error)
        }
    }

    private static func add(_ draft: String, as name: String, to database: Database) throws {
        let source = try StoreFile.open(draft, O_RDONLY)
        defer { close(source) }
        let insertion = try database.makeStatement(sql: "INSERT INTO \(Self.table) VALUES (?, ?, ?)")
        var number = 0
        while true {
            let piece = try StoreFile.read(upTo: Self.pieceLength, from: source, draft)
            if piece.isEmpty { return }
            try insertion.execute(arguments: [name, number, Data(piece)])
            number += 1
        }
    }

    // MARK: Restoring

    /// Writes the files of an unpacked backup to `bots` of `directory`, and removes them from the account's database.
    ///
    /// Throws `StoreError.Code.stateExists` if one of them exists, and `StoreError.Code.badBackup` for a name that no
    /// backup contains. Returns the files and folders that it has made, so that the caller can remove them after a
    /// later failure; its own failure leaves nothing behind.
    static func placeBotFiles(_ draft: String, of file: String, in directory: String) throws -> [String] {
        let queue = try DatabaseQueue(path: draft)
        var made: [String] = []
        do {
            try queue.writeWithoutTransaction { database in
                guard try database.tableExists(Self.table) else { return }
                let names = try String.fetchAll(database, sql: "SELECT DISTINCT name FROM \(Self.table) ORDER BY name")
                guard names.count <= Self.maximumNames * Self.maximumNames, names.allSatisfy(Self.isBotFile) else {
                    throw Self.damaged(file)
                }
                for name in names { try Self.place(name, from: database, in: directory, &made) }
                try database.execute(sql: "DROP TABLE \(Self.table)")
                try database.execute(sql: "VACUUM")
            }
            try queue.close()
            return made
        } catch {
            Self.remove(made)
            throw error
        }
    }

    private static func place(
        _ name: String, from database: Database, in directory: String, _ made: inout [String]
    ) throws {
        let target = "\(directory)/bots/\(name)"
        guard access(target, F_OK) != 0 else {
            throw StoreError(.stateExists, "\(target): already exists; name another directory")
        }
        for folder in ["\(directory)/bots", "\(directory)/bots/\(name.prefix { $0 != "/" })"]
        where access(folder, F_OK) != 0 {
            guard mkdir(folder, 0o700) == 0 else { throw StoreError(errno: errno, "cannot create", folder) }
            made.append(folder)
        }
        let file = try StoreFile.open(target, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW)
        defer { close(file) }
        made.append(target)
        let pieces = try Data.fetchCursor(
            database, sql: "SELECT content FROM \(Self.table) WHERE name = ? ORDER BY number", arguments: [name])
        while let piece = try pieces.next() { try StoreFile.write(Array(piece), to: file, target) }
        guard fsync(file) == 0 else { throw StoreError(errno: errno, "cannot write", target) }
        try StoreFile.synchronizeDirectory(of: target)
    }

    /// Removes what ``placeBotFiles(_:of:in:)`` has made.
    static func remove(_ made: [String]) {
        for path in made.reversed() where unlink(path) != 0 { rmdir(path) }
    }

    // MARK: Names

    private static func isBotFile(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && Self.isName(parts[0]) && parts[1].hasSuffix(".sqlite")
            && Self.isName(parts[1].dropLast(7))
    }

    /// Whether a bot or a database can have the name: no separator and no dot.
    private static func isName(_ name: Substring) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "#"):
                    true
                default: false
                }
            }
    }
}
