import Synchronization

/// Lets one task at a time pass, in the order in which they asked.
final class Turns: Sendable {
    private struct State {
        var isHeld = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Waits for the turn, regardless of cancellation: the holder's work is one bounded transaction.
    func begin() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                defer { state.isHeld = true }
                if state.isHeld { state.waiters.append(continuation) }
                return !state.isHeld
            }
            if isFree { continuation.resume() }
        }
    }

    func end() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isHeld = false
            return nil
        }
        next?.resume()
    }
}
