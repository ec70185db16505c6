import PikaCore
import Synchronization

/// A one-shot value with one waiting reader.
final class Promise<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isFulfilled = false
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    /// Sets the value. Only the first call counts; nil means that no value will come.
    func fulfill(_ value: Value?) {
        let waiter = self.state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard !state.isFulfilled else { return nil }
            state.isFulfilled = true
            state.value = value
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    /// Waits for the value; returns nil if none will come or if the task was cancelled.
    func wait() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isFulfilled, value) = self.state.withLock { state in
                    if !state.isFulfilled { state.waiter = continuation }
                    return (state.isFulfilled, state.value)
                }
                if isFulfilled { continuation.resume(returning: value) }
            }
        } onCancel: {
            self.fulfill(nil)
        }
    }

    /// Waits as ``wait()`` does, but returns nil after a timeout.
    func wait(_ milliseconds: Int64, _ clock: any CoreClock) async -> Value? {
        let end = clock.nowMilliseconds + milliseconds
        return await withTaskGroup(of: Value?.self) { group in
            group.addTask { await self.wait() }
            group.addTask {
                try? await clock.sleep(untilMilliseconds: end)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
