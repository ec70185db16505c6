import Foundation

/// What workers were asked and have not answered yet.
struct PendingAsks {
    typealias Outcome = Result<Data, SupervisorError>
    typealias Continuation = CheckedContinuation<Outcome, Never>

    /// Asks under way at the same time, for all workers; a bound against a flood through the control socket and by those
    /// who read metrics. Signs of life do not count: of each worker few are asked for, whatever else goes on.
    static let maximum = 256

    private struct Entry {
        let worker: Int
        let isSignOfLife: Bool
        let continuation: Continuation
    }

    private var entries: [Int64: Entry] = [:]
    private var lastID: Int64 = 0
    private var counted = 0

    /// Nil when too many are under way.
    mutating func nextID(isSignOfLife: Bool) -> Int64? {
        guard isSignOfLife || counted < Self.maximum else { return nil }
        lastID += 1
        return lastID
    }

    mutating func add(_ id: Int64, worker: Int, isSignOfLife: Bool, _ continuation: Continuation) {
        entries[id] = Entry(worker: worker, isSignOfLife: isSignOfLife, continuation: continuation)
        if !isSignOfLife { counted += 1 }
    }

    /// Hands the asker its answer; false if nobody waits for it, or another worker was asked.
    @discardableResult
    mutating func answer(_ id: Int64, from worker: Int? = nil, _ outcome: Outcome) -> Bool {
        guard let entry = entries[id], worker == nil || entry.worker == worker else { return false }
        entries[id] = nil
        if !entry.isSignOfLife { counted -= 1 }
        entry.continuation.resume(returning: outcome)
        return true
    }

    /// Fails what a worker was asked, or everything.
    mutating func fail(worker: Int? = nil, _ error: SupervisorError) {
        for (id, entry) in entries where worker == nil || entry.worker == worker { answer(id, .failure(error)) }
    }
}
