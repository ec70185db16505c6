import Dispatch
import GRDB
import PikaCore
import Synchronization

/// A queue that commits lists of changes, one transaction after another, on the database's writer queue.
///
/// Lists that arrive during a transaction share the next one. If that one fails, they are committed one by one, so that
/// each list is all or nothing and fails only for its own reasons.
final class CommitQueue: Sendable {
    private struct Submission: Sendable {
        let changes: [StoreChange]
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var waiting: [Submission] = []
        var isRunning = false
        var isClosed = false
    }

    private static let largestBatch = 64
    private static let closed = StoreError(.closed, "the store was closed")

    private let pool: DatabasePool
    private let sealer: Sealer
    private let crashes: CrashLedger
    private let state = Mutex(State())
    private let schedule: Mutex<MaintenanceSchedule>

    /// - Parameter freesMemory: whether memory is freed while the store is at rest.
    init(_ pool: DatabasePool, _ sealer: Sealer, _ crashes: CrashLedger, freesMemory: Bool) {
        self.pool = pool
        self.sealer = sealer
        self.crashes = crashes
        self.schedule = Mutex(MaintenanceSchedule(freesMemory: freesMemory, now: .now))
    }

    /// Returns when the changes are on disk. Cancelling the caller's task does not undo a call in progress.
    func commit(_ changes: [StoreChange]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let starts = self.state.withLock { state in
                state.waiting.append(Submission(changes: changes, continuation: continuation))
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if starts { self.pool.asyncWriteWithoutTransaction { self.drain($0) } }
        }
    }

    /// Waits for the running transaction, fails the waiting ones, checkpoints the log and closes the database.
    func close() throws {
        let wasClosed = self.state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        if wasClosed { return }
        try self.pool.writeWithoutTransaction { try self.checkpoint($0) }
        try self.pool.close()
    }

    /// Checkpoints and truncates the write-ahead log.
    func checkpoint() async throws {
        try await self.pool.writeWithoutTransaction { database in
            // Checked on the writer queue, because GRDB passes a null connection after closing.
            guard !self.state.withLock({ $0.isClosed }) else { throw Self.closed }
            try self.checkpoint(database)
        }
    }

    private func drain(_ database: Database) {
        while true {
            let (batch, isClosed) = self.state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.largestBatch))
                state.waiting.removeFirst(batch.count)
                state.isRunning = !batch.isEmpty
                return (batch, state.isClosed)
            }
            if batch.isEmpty { return self.scheduleMaintenance() }
            if isClosed {
                for submission in batch { submission.continuation.resume(throwing: Self.closed) }
                continue
            }
            self.commit(batch, database)
            // The commits are on disk even if this fails; if it fails, the next checkpoint retries.
            if self.schedule.withLock({ $0.noteCommit(at: .now) }) { try? self.checkpoint(database) }
        }
    }

    /// Closes the connections that read, and frees the writer's memory when the store is quiet.
    func freeMemory() {
        self.schedule.withLock { $0.freeSoon() }
        self.pool.releaseMemoryEventually()
    }

    /// Starts a timer for the next maintenance, unless one is running. Closing the store ends its effect.
    private func scheduleMaintenance() {
        guard let wait = self.schedule.withLock({ $0.beginWait(at: .now) }) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + wait / .seconds(1)) { [weak self] in
            guard let self else { return }
            self.pool.asyncWriteWithoutTransaction { self.maintain($0) }
        }
    }

    private func maintain(_ database: Database) {
        // GRDB passes a null connection after closing.
        guard !self.state.withLock({ $0.isClosed }) else { return }
        switch self.schedule.withLock({ $0.endWait(at: .now) }) {
        case .checkpoint: try? self.checkpoint(database)
        case .freeMemory: self.pool.releaseMemoryEventually()
        case nil: break
        }
        self.scheduleMaintenance()
    }

    private func commit(_ batch: [Submission], _ database: Database) {
        do {
            let transaction = Transaction(database: database, sealer: self.sealer)
            try database.inTransaction(.immediate) {
                for submission in batch {
                    for change in submission.changes {
                        _ = try self.crashes.part(change.crashSubject, of: .store) { try transaction.apply(change) }
                    }
                }
                return .commit
            }
            for submission in batch { submission.continuation.resume() }
        } catch  where batch.count > 1 {
            for submission in batch { self.commit([submission], database) }
        } catch {
            for submission in batch { submission.continuation.resume(throwing: error) }
        }
    }

    /// Checkpoints and truncates the log, unless a reader still needs it; then the next checkpoint will.
    private func checkpoint(_ database: Database) throws {
        var isComplete = false
        defer { self.schedule.withLock { $0.noteCheckpoint(at: .now, isComplete: isComplete) } }
        do {
            try database.checkpoint(.truncate)
            isComplete = true
        } catch let error as DatabaseError {
            guard error.resultCode == .SQLITE_BUSY || error.resultCode == .SQLITE_LOCKED else { throw error }
        }
    }
}
