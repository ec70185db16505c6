import Synchronization

/// Stream with replay for any number of listeners: each receives all elements from the beginning.
package final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var history: [Element] = []
        var listeners: [Int: AsyncStream<Element>.Continuation] = [:]
        var lastListener = 0
    }

    private let state = Mutex(State())

    package init() {}

    package func send(_ element: Element) {
        let listeners = state.withLock { state in
            state.history.append(element)
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.yield(element) }
    }

    package func elements() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream<Element>.makeStream()
        let number = state.withLock { state in
            for element in state.history { continuation.yield(element) }
            state.lastListener += 1
            state.listeners[state.lastListener] = continuation
            return state.lastListener
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { _ = $0.listeners.removeValue(forKey: number) }
        }
        return stream
    }

    /// Returns the first non-nil result of `pick` over all past and future elements.
    package func first<Result>(_ pick: (Element) -> Result?) async throws -> Result {
        for await element in elements() {
            if let result = pick(element) { return result }
        }
        throw CancellationError()
    }
}
