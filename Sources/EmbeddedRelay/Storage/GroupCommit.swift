import GRDB
import Logging
import Nostr
import Synchronization

/// Group commit: writes all events that are pending in one transaction.
///
/// While a transaction commits, the next events are queued. Under load many events share a commit; a single event is
/// written without delay.
final class GroupCommit: Sendable {
    struct Submission: Sendable {
        let event: Event
        let json: [UInt8]
        /// The connection that submitted the event.
        let origin: UInt64
    }

    typealias Committed = (submission: Submission, outcome: StoreOutcome)

    private struct State {
        var waiting: [Submission] = []
        var isRunning = false
    }

    private static let largestBatch = 512

    private let store: EventStore
    private let quota: Int64
    private let logger: Logger
    private let completion: @Sendable ([Committed]) -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - quota: size of the database in bytes beyond which events are refused.
    ///   - completion: called on the writing queue after each transaction, in the order of submission.
    init(
        _ store: EventStore, quota: Int64, logger: Logger, completion: @escaping @Sendable ([Committed]) -> Void
    ) {
        self.store = store
        self.quota = quota
        self.logger = logger
        self.completion = completion
    }

    func submit(_ submission: Submission) {
        let starts = state.withLock { state in
            state.waiting.append(submission)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if starts { store.database.asyncWriteWithoutTransaction { self.drain($0) } }
    }

    private func drain(_ database: Database) {
        while true {
            let batch = state.withLock { state in
                let batch = Array(state.waiting.prefix(Self.largestBatch))
                state.waiting.removeFirst(batch.count)
                state.isRunning = !batch.isEmpty
                return batch
            }
            if batch.isEmpty { return }
            completion(commit(batch, database))
        }
    }

    private func commit(_ batch: [Submission], _ database: Database) -> [Committed] {
        let start = store.lastSequence.withLock { $0 }
        do {
            var committed: [Committed] = []
            var sequence = start
            var room = StoreQuota(limit: quota, used: try EventStore.usedBytes(database))
            try database.inTransaction(.immediate) {
                for submission in batch {
                    let outcome = try store.insert(
                        submission.event, json: submission.json, sequence: sequence + 1,
                        isFull: !room.admits(submission.event.kind), database)
                    if case .stored = outcome {
                        sequence += 1
                        room.add(json: submission.json.count)
                    }
                    committed.append((submission, outcome))
                }
                return .commit
            }
            store.lastSequence.withLock { $0 = sequence }
            return committed
        } catch {
            logger.error("Events could not be stored", metadata: ["events": "\(batch.count)", "error": "\(error)"])
            return batch.map { ($0, .failed) }
        }
    }
}
