import PikaCore
import Synchronization

/// A value that comes once; one may wait for it.
final class Answer<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var isOver = false
        var waiter: CheckedContinuation<Value?, Never>?
    }

    private let state = Mutex(State())

    /// Only the first value counts; nil says that none will come.
    func give(_ value: Value?) {
        let waiter = self.state.withLock { state -> CheckedContinuation<Value?, Never>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            state.value = value
            return state.waiter.take()
        }
        waiter?.resume(returning: value)
    }

    /// The value; nil when none will come, or the task was cancelled.
    func wait() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isOver, value) = self.state.withLock { state in
                    if !state.isOver { state.waiter = continuation }
                    return (state.isOver, state.value)
                }
                if isOver { continuation.resume(returning: value) }
            }
        } onCancel: {
            self.give(nil)
        }
    }

    /// As ``wait()``, but nil after a time.
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
