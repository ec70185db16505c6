import Synchronization

/// Queries for the core's vitals in flight.
final class HealthQueries: Sendable {
    private struct State {
        var waiting: [Int: CheckedContinuation<CoreVitals?, Never>] = [:]
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    func vitals(_ mailbox: Mailbox) async -> CoreVitals? {
        await withCheckedContinuation { continuation in
            let number = self.state.withLock { state -> Int? in
                guard !state.isClosed else { return nil }
                state.lastNumber += 1
                state.waiting[state.lastNumber] = continuation
                return state.lastNumber
            }
            if let number { mailbox.send(.queryVitals(number)) } else { continuation.resume(returning: nil) }
        }
    }

    func answer(_ number: Int, _ vitals: CoreVitals) {
        self.state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: vitals)
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
