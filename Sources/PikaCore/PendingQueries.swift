import Synchronization

/// Queries in flight for values that only the core's model knows, such as its vitals.
final class PendingQueries<Answer: Sendable>: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<Answer?, Never>] = [:]
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Sends the query's input, with its number, and waits for the answer; nil if the core has ended.
    func ask(_ mailbox: Mailbox, _ input: @Sendable (_ number: Int) -> CoreInput) async -> Answer? {
        await withCheckedContinuation { continuation in
            let number = self.state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                state.lastNumber += 1
                state.waiting[state.lastNumber] = continuation
                return state.lastNumber
            }
            if let number { mailbox.send(input(number)) } else { continuation.resume(returning: nil) }
        }
    }

    func answer(_ number: Int, _ answer: Answer) {
        self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: answer)
    }

    /// Ends all pending and later queries with nil, because the core has ended.
    func close() {
        let waiting = self.state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: nil) }
    }
}
