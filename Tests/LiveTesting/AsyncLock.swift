import Synchronization

/// A lock that is held across suspension points. Waiters acquire it in the order in which they asked.
final class AsyncLock: Sendable {
    private struct State {
        var isHeld = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func acquire() async {
        await withCheckedContinuation { continuation in
            let isFree = self.state.withLock { state in
                defer { state.isHeld = true }
                if state.isHeld { state.waiters.append(continuation) }
                return !state.isHeld
            }
            if isFree { continuation.resume() }
        }
    }

    func release() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isHeld = false
            return nil
        }
        next?.resume()
    }
}
