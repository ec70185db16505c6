package import BotKit
import Foundation
package import Storage

/// The database files of an account's bots: `bots/BOT/NAME.sqlite` in its directory, with the last copy beside each.
///
/// Files are opened once and closed at the end. Folders have mode 0700 and files 0600.
package actor StoredDatabases: BotDatabases {
    private struct Name: Hashable {
        let bot: String
        let name: String
    }

    private let folder: String
    private let limits: DatabaseLimits
    private let observe: BotResourceEvent.Observer
    private let sealer: @Sendable (_ file: String) -> ValueSealer
    private var files: [Name: (file: BotDatabaseFile, kind: BotDatabaseKind)] = [:]
    private var isClosed = false

    /// - Parameters:
    ///   - folder: The account's directory.
    ///   - observe: Receives failures.
    ///   - sealer: Returns the sealer of a file, named `BOT/NAME`.
    package init(
        folder: String, limits: DatabaseLimits, observe: @escaping BotResourceEvent.Observer = { _, _, _ in },
        sealer: @escaping @Sendable (_ file: String) -> ValueSealer
    ) {
        self.folder = "\(folder)/bots"
        self.limits = limits
        self.observe = observe
        self.sealer = sealer
    }

    package func database(
        _ name: String, of bot: String, _ kind: BotDatabaseKind, migrations: [[String]]
    ) async throws(BotError) -> any BotDatabase {
        let key = Name(bot: bot, name: name)
        let path = try path(key)
        if let known = files[key] { return try Self.checked(known, kind) }
        guard !isClosed else { throw BotError(.storageFailed, "the databases are closed") }
        let number = files.keys.filter { $0.bot == bot }.count
        guard number < limits.files else {
            throw BotError(.limitReached, "a bot can have at most \(limits.files) database files")
        }
        try Self.prepare(path)
        let observe = observe
        let file: BotDatabaseFile
        do {
            file = try await BotDatabaseFile.open(
                path, kind, migrations: migrations, sealer: sealer("\(bot)/\(name)"), limits: limits
            ) { observe(.database(failure: $0), bot, name) }
        } catch {
            observe(.database(failure: error.code), bot, name)
            throw error
        }
        // Another handler may have opened it, or the worker may have ended, meanwhile.
        if let known = files[key] {
            try file.close()
            return try Self.checked(known, kind)
        }
        guard !isClosed else {
            try file.close()
            throw BotError(.storageFailed, "the databases are closed")
        }
        files[key] = (file, kind)
        return file
    }

    package func backup(
        _ name: String, of bot: String, _ kind: BotDatabaseKind
    ) async throws(BotError) -> (any BotDatabase)? {
        let path = try path(Name(bot: bot, name: name)) + ".backup"
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try BotDatabaseFile.openBackup(path, kind, sealer: sealer("\(bot)/\(name)"), limits: limits)
    }

    /// Copies the open files whose last copy is older than an interval; returns the errors by file.
    package func backUp(olderThan interval: Duration, nowMilliseconds: Int64) async -> [String: BotError] {
        var failures: [String: BotError] = [:]
        for (key, open) in files {
            do throws(BotError) {
                let copy = try path(key) + ".backup"
                let age = Self.modified(copy).map { nowMilliseconds.subtractingReportingOverflow($0) }
                let limit = interval.components.seconds.multipliedReportingOverflow(by: 1_000)
                if let age, !age.overflow, !limit.overflow, age.partialValue < limit.partialValue { continue }
                try await open.file.backUp(to: copy)
            } catch {
                observe(.database(failure: error.code), key.bot, key.name)
                failures["\(key.bot)/\(key.name)"] = error
            }
        }
        return failures
    }

    /// The sizes of the open files.
    package var sizes: [StoredDatabaseSize] {
        files.keys.compactMap { key in
            guard let path = try? path(key),
                let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber
            else { return nil }
            return StoredDatabaseSize(bot: key.bot, name: key.name, bytes: size.int64Value)
        }
    }

    /// Closes all files; none can be opened afterwards.
    package func close() {
        isClosed = true
        for (file, _) in files.values { try? file.close() }
        files = [:]
    }

    // MARK: Files

    private static func checked(
        _ open: (file: BotDatabaseFile, kind: BotDatabaseKind), _ kind: BotDatabaseKind
    ) throws(BotError) -> any BotDatabase {
        guard open.kind == kind else {
            throw BotError(.storageFailed, "the database file is open with the other kind of protection")
        }
        return open.file
    }

    private func path(_ key: Name) throws(BotError) -> String {
        guard Self.isName(key.name), Self.isName(key.bot) else {
            throw BotError(.storageFailed, "the name of a database must have 1 to 64 letters, digits, - and _")
        }
        return "\(folder)/\(key.bot)/\(key.name).sqlite"
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "#"):
                    true
                default: false
                }
            }
    }

    private static func prepare(_ path: String) throws(BotError) {
        let manager = FileManager.default
        do {
            try manager.createDirectory(
                atPath: NSString(string: path).deletingLastPathComponent, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw BotError(.storageFailed, "cannot create the folder of the database")
        }
        guard !manager.fileExists(atPath: path) else { return }
        guard manager.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw BotError(.storageFailed, "cannot create the database file")
        }
    }

    private static func modified(_ path: String) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.modificationDate] as? Date).map { Int64($0.timeIntervalSince1970 * 1_000) }
    }
}

/// The size of an open database file of a bot.
package struct StoredDatabaseSize: Sendable, Hashable {
    package let bot: String
    package let name: String
    package let bytes: Int64
}
