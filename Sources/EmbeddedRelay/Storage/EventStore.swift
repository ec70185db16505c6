import Errors
import Foundation
import GRDB
import Nostr
import Synchronization

/// Events in one SQLite database.
///
/// Write transactions run one at a time on the database's queue; reads run concurrently on snapshots. No call blocks:
/// each passes its result to a closure on a queue of the database.
final class EventStore: Sendable {
    let database: any DatabaseWriter
    /// Sequence number of the last stored event. Only the writing queue changes it.
    let lastSequence: Mutex<Int64>

    init(_ storage: RelayConfiguration.Storage, synchronousCommits: Bool) throws(RelayError) {
        do {
            database = try Self.open(storage)
            try Self.migrations.migrate(database)
            // Set on the open database, because opening a pool sets NORMAL.
            let level = synchronousCommits ? "FULL" : "NORMAL"
            try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = \(level)") }
            lastSequence = Mutex(try database.read(Self.snapshot))
        } catch {
            throw RelayError(.storageFailed, "the event database could not be opened", cause: error)
        }
    }

    private static func open(_ storage: RelayConfiguration.Storage) throws -> any DatabaseWriter {
        var configuration = GRDB.Configuration()
        configuration.label = "relay.events"
        switch storage {
        case .memory:
            return try DatabaseQueue(configuration: configuration)
        case .file(let path):
            let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return try DatabasePool(path: path, configuration: configuration)
        }
    }

    /// Returns the last sequence number that the reader can see.
    static func snapshot(_ database: Database) throws -> Int64 {
        try Int64.fetchOne(database, sql: "SELECT max(seq) FROM event") ?? 0
    }

    /// Returns the size of the database in bytes without its free pages, which later events reuse.
    static func usedBytes(_ database: Database) throws -> Int64 {
        let pages = try Int64.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let free = try Int64.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
        let size = try Int64.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        let (bytes, overflow) = (pages - free).multipliedReportingOverflow(by: size)
        return overflow ? .max : bytes
    }

    /// Waits for running operations, then closes the file.
    func close() throws {
        try database.close()
    }
}
