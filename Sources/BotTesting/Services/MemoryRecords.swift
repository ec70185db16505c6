package import BotKit
import Synchronization

/// Records in memory, with failures and crashes at chosen writes.
package final class MemoryRecords: SealedRecords {
    private struct Content {
        var records: [SealedRecordKey: [UInt8]] = [:]
        var writes = 0
        var limit = Int.max
        var losesAnswer = false
    }

    private let content = Mutex(Content())

    package init(_ records: [SealedRecordKey: [UInt8]] = [:]) {
        content.withLock { $0.records = records }
    }

    /// The records on disk, as a process started after a crash finds them.
    package var records: [SealedRecordKey: [UInt8]] { content.withLock { $0.records } }
    /// The number of writes so far, failed ones included.
    package var writes: Int { content.withLock { $0.writes } }

    /// Fails every write after the next `count` ones. With `losesAnswer` the first failing write is on disk.
    package func fail(afterWrites count: Int, losesAnswer: Bool = false) {
        content.withLock { content in
            content.limit = content.writes + count
            content.losesAnswer = losesAnswer
        }
    }

    /// Ends the failures.
    package func recover() { content.withLock { $0.limit = .max } }

    package func record(_ key: SealedRecordKey) async throws(BotError) -> [UInt8]? {
        content.withLock { $0.records[key] }
    }

    package func write(_ records: [SealedRecordKey: [UInt8]?]) async throws(BotError) {
        let isStored = content.withLock { content in
            content.writes += 1
            let isFirstFailure = content.writes - 1 == content.limit
            guard content.writes <= content.limit || (isFirstFailure && content.losesAnswer) else { return false }
            for (key, value) in records { content.records[key] = value }
            return content.writes <= content.limit
        }
        guard isStored else { throw BotError(.storageFailed, "the disk has failed") }
    }
}
