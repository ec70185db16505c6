import Synchronization

/// Which accounts have news for the console, and who waits for the next state.
final class ConsoleWakes: Sendable {
    struct Due: Sendable {
        /// Whether all accounts are to be asked.
        var all = false
        var accounts: Set<String> = []
    }

    private struct State {
        var due = Due()
        var collector: AsyncStream<Void>.Continuation?
        var readers: [Int: AsyncStream<UInt64>.Continuation] = [:]
        var lastReader = 0
    }

    private let state = Mutex(State())

    /// An event of an account. Does nothing while no console runs.
    func wake(_ account: String) {
        state.withLock { state in
            guard let collector = state.collector else { return }
            state.due.accounts.insert(account)
            collector.yield()
        }
    }

    func wakeAll() {
        state.withLock { state in
            state.due.all = true
            state.collector?.yield()
        }
    }

    /// Returns a stream with an element when accounts are due; for one collector at a time.
    func listen() -> AsyncStream<Void> {
        let (due, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        state.withLock { $0.collector = continuation }
        return due
    }

    /// Returns what is due, and forgets it.
    func take() -> Due {
        state.withLock { state in
            defer { state.due = Due() }
            return state.due
        }
    }

    // MARK: Readers

    /// Returns the numbers of new states; a slow reader misses numbers, but not the newest.
    func numbers() -> AsyncStream<UInt64> {
        let (numbers, continuation) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingNewest(1))
        let id = state.withLock { state in
            state.lastReader += 1
            state.readers[state.lastReader] = continuation
            return state.lastReader
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.readers.removeValue(forKey: id) }
        }
        return numbers
    }

    func announce(_ number: UInt64) {
        let readers = state.withLock { Array($0.readers.values) }
        for reader in readers { reader.yield(number) }
    }
}
