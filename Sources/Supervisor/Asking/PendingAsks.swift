import Foundation

/// Unanswered questions to workers.
struct PendingAsks {
    typealias Outcome = Result<Data, SupervisorError>
    typealias Continuation = CheckedContinuation<Outcome, Never>

    /// Maximum number of questions in flight over all workers, which bounds floods from the control socket and from
    /// metrics readers. Health checks do not count: there are only a few per worker at any time.
    static let maximum = 256

    private struct Entry {
        let worker: Int
        let isHealthCheck: Bool
        let continuation: Continuation
    }

    private var entries: [Int64: Entry] = [:]
    private var lastID: Int64 = 0
    private var counted = 0

    /// Returns the next id; nil when too many questions are in flight.
    mutating func nextID(isHealthCheck: Bool) -> Int64? {
        guard isHealthCheck || counted < Self.maximum else { return nil }
        lastID += 1
        return lastID
    }

    mutating func add(_ id: Int64, worker: Int, isHealthCheck: Bool, _ continuation: Continuation) {
        entries[id] = Entry(worker: worker, isHealthCheck: isHealthCheck, continuation: continuation)
        if !isHealthCheck { counted += 1 }
    }

    /// Delivers an answer to the asker; returns false if none is waiting or if another worker was asked.
    @discardableResult
    mutating func answer(_ id: Int64, from worker: Int? = nil, _ outcome: Outcome) -> Bool {
        guard let entry = entries[id], worker == nil || entry.worker == worker else { return false }
        entries[id] = nil
        if !entry.isHealthCheck { counted -= 1 }
        entry.continuation.resume(returning: outcome)
        return true
    }

    /// Fails a worker's questions, or all of them.
    mutating func fail(worker: Int? = nil, _ error: SupervisorError) {
        for (id, entry) in entries where worker == nil || entry.worker == worker { answer(id, .failure(error)) }
    }
}
