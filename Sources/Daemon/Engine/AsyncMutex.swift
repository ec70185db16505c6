import Synchronization

/// Mutual exclusion across suspension points: runs closures one at a time, in order of arrival.
final class AsyncMutex: Sendable {
    private struct State {
        var isLocked = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func withLock<Result>(_ body: () async -> Result) async -> Result {
        await self.lock()
        let result = await body()
        self.unlock()
        return result
    }

    private func lock() async {
        await withCheckedContinuation { continuation in
            let isFree = self.state.withLock { state in
                guard state.isLocked else {
                    state.isLocked = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func unlock() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isLocked = false
            return nil
        }
        next?.resume()
    }
}
