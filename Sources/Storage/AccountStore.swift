package import Dispatch
import GRDB
package import MLS
package import Nostr
package import PikaCore
import Synchronization

/// The durable store of one account: a SQLite database in its own directory, with secret values sealed.
///
/// A commit is on disk when it returns. Deleted and replaced content is overwritten in the database at once, and leaves
/// the write-ahead log soon (``checkpoint()``). Group, message and row ids, texts, keys and names are sealed or hashed
/// under the sealing key. In the clear are the ids of events that relays have anyway, key package references and slots,
/// cursors, times, and how many records of which epochs a group has.
package final class AccountStore: CoreStore {
    let pool: DatabasePool
    let sealer: Sealer
    let directory: String
    package let crashes: CrashLedger
    private let path: String
    private let lock: StateDirectoryLock
    private let queue: CommitQueue
    /// The cache of files, which loses those of deleted messages.
    let openCache = Mutex<StoredMediaCache?>(nil)

    /// Opens the store in `directory`, creating both if needed. Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - account: the owner; a store of another account is refused. Nil skips the check.
    ///   - program: this process's name in the error of another process that finds the directory locked.
    ///   - sharedQueue: a serial queue on which this store and others access their databases, for a process with many
    ///     stores: with queues of their own, every commit in progress takes a thread. A store with a shared queue also frees
    ///     its memory at rest.
    /// Throws ``StoreError``; nothing is left locked or open then.
    package static func open(
        directory: String, sealingKey: SealingKey, account: PublicKey? = nil, program: String = "pikabot",
        sharedQueue: DispatchQueue? = nil
    ) throws(StoreError) -> AccountStore {
        let directory = try StateDirectory(preparing: directory)
        let lock = try StateDirectoryLock(directory: directory.path, program: program)
        try directory.prepareDatabaseFile()
        let path = directory.databasePath
        do {
            let pool = try Self.openPool(path, on: sharedQueue)
            let known = try pool.read { try Metadata.verify($0, key: sealingKey, account: account) }
            try Migrations.all.migrate(pool)
            let sealer = try pool.write { database in
                try Metadata.initialize(database, known, key: sealingKey, account: account)
            }
            let notes = try StoredCrashNotes(directory.path, sealer, sealingKey)
            let crashes = CrashLedger(notes, now: .systemTime)
            return AccountStore(pool, sealer, directory, lock, crashes, freesMemory: sharedQueue != nil)
        } catch {
            throw Self.named(error, path)
        }
    }

    private init(
        _ pool: DatabasePool, _ sealer: Sealer, _ directory: StateDirectory, _ lock: StateDirectoryLock,
        _ crashes: CrashLedger, freesMemory: Bool
    ) {
        self.pool = pool
        self.sealer = sealer
        self.directory = directory.path
        self.path = directory.databasePath
        self.lock = lock
        self.crashes = crashes
        self.queue = CommitQueue(pool, sealer, crashes, freesMemory: freesMemory)
    }

    /// Closes the connections that read, and frees the writer's caches when the store is quiet. The next read opens a
    /// connection again. For a store with a shared queue; returns at once.
    package func releaseMemory() { self.queue.freeMemory() }

    package func load() async throws -> StoredState {
        let crashes = self.crashes
        let pass = crashes.beginPass(.read)
        defer { crashes.end(pass) }
        return try await self.read { reader in
            var reader = reader
            reader.crashes = crashes
            return try reader.state()
        }
    }

    /// Makes all changes durable in one transaction; cancelling the caller's task does not stop it.
    package func commit(_ changes: [StoreChange]) async throws {
        guard !changes.isEmpty else { return }
        do { try await self.queue.commit(changes) } catch { throw Self.named(error, self.path) }
        if changes.contains(where: \.deletesMessages) { await self.openCache.withLock { $0 }?.removeOrphans() }
    }

    package func messages(
        in groupID: GroupID, before: StoredMessage.Position?, limit: Int
    ) async throws -> [StoredMessage] {
        try await self.read { try $0.messages(in: groupID, before: before, limit: limit) }
    }

    package func messages(in groupID: GroupID, atPoints points: [Bytes32]) async throws -> [StoredMessage] {
        try await self.read { try $0.messages(in: groupID, atPoints: points) }
    }

    package func message(in groupID: GroupID, id: EventID) async throws -> StoredMessage? {
        try await self.read { try $0.message(in: groupID, id: id) }
    }

    package func nextExpiry() async throws -> UnixTime? {
        try await self.read { try $0.nextExpiry() }
    }

    package func surplus(_ rule: MessageSurplus, limit: Int) async throws -> Int {
        try await self.read { try $0.surplus(rule, limit: limit).count }
    }

    package func value(scope: String, key: String) async throws -> [UInt8]? {
        try await self.read { try $0.value(scope, key) }
    }

    package func media(in groupID: GroupID, message: EventID) async throws -> [StoredMedia] {
        try await self.read { try $0.media(in: groupID, message: message) }
    }

    /// Checkpoints the write-ahead log, so that no file contains deleted keys.
    ///
    /// Commits do this automatically every few dozen commits and after a pause; call it when a busy period ends.
    package func checkpoint() async throws {
        do { try await self.queue.checkpoint() } catch { throw Self.named(error, self.path) }
    }

    /// Waits for running operations, checkpoints the log, closes the database and unlocks the directory; later calls
    /// throw `StoreError.Code.closed`.
    package func close() throws(StoreError) {
        defer { self.lock.release() }
        do { try self.queue.close() } catch { throw Self.named(error, self.path) }
    }

    private func read<Result: Sendable>(
        _ body: @escaping @Sendable (Transaction) throws -> Result
    ) async throws -> Result {
        let sealer = self.sealer
        do {
            return try await self.pool.read { try body(Transaction(database: $0, sealer: sealer)) }
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Self.named(error, self.path)
        }
    }

    /// Returns the error with the file's name in its message.
    private static func named(_ error: any Error, _ path: String) -> StoreError {
        guard let error = error as? StoreError else { return StoreError(error, database: path) }
        return error.message.hasPrefix(path)
            ? error : StoreError(error.code, "\(path): \(error.message)", cause: error.cause)
    }
}

extension StoreChange {
    fileprivate var deletesMessages: Bool {
        switch self {
        case .deleteGroup, .deleteExpired, .deleteSurplus: true
        default: false
        }
    }
}
