import Synchronization

/// Runs closures one at a time, in order of arrival.
final class Turnstile: Sendable {
    private struct State {
        var isTaken = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    func run<Result>(_ body: () async -> Result) async -> Result {
        await self.enter()
        let result = await body()
        self.leave()
        return result
    }

    private func enter() async {
        await withCheckedContinuation { continuation in
            let isFree = self.state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = self.state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }
}
