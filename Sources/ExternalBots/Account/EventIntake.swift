import BotDispatch
import PikaCore
import ServiceLifecycle
import Synchronization

/// Events in transit from an account's dispatcher to the daemon of one program.
///
/// The dispatcher decides which events the program gets. Handing over an event waits until the daemon has recorded it,
/// for as long as the record is full. So the intake never holds more events than chats are handled concurrently.
final class EventIntake: Sendable {
    private struct State {
        /// Events that the daemon has not fetched, in order.
        var queue: [CoreEvent] = []
        var waiting: [Int64: CheckedContinuation<Void, any Error>] = [:]
        var newest: Int64 = 0
        var reader: CheckedContinuation<CoreEvent?, Never>?
    }

    private let state = Mutex(State())

    /// The events handed over, in order; for a single reader.
    var events: AsyncStream<CoreEvent> { AsyncStream { await self.next() } }

    /// The inbox row of the newest event handed over; 0 before the first one.
    var newest: Int64 { state.withLock { $0.newest } }

    /// The number of events that the daemon has not fetched.
    var count: Int { state.withLock { $0.queue.count } }

    /// Hands over an event and returns when it is recorded. Throws when the task is cancelled before that, and
    /// ``BotDispatch/EventPostponed`` when a graceful shutdown starts.
    func deliver(_ event: CoreEvent) async throws {
        try await withGracefulShutdownHandler {
            try await withTaskCancellationHandler {
                try await enqueue(event)
            } onCancel: {
                self.cancel(event.inboxID, CancellationError())
            }
        } onGracefulShutdown: {
            self.cancel(event.inboxID, EventPostponed())
        }
    }

    func complete(_ inboxID: Int64) {
        state.withLock { $0.waiting.removeValue(forKey: inboxID) }?.resume()
    }

    private func enqueue(_ event: CoreEvent) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let (earlier, reader) = state.withLock { state in
                state.newest = max(state.newest, event.inboxID)
                let earlier = state.waiting.updateValue(continuation, forKey: event.inboxID)
                let reader = state.reader.take()
                if reader == nil { state.queue.append(event) }
                return (earlier, reader)
            }
            earlier?.resume(throwing: CancellationError())
            reader?.resume(returning: event)
            // Cancellation and shutdown may have come before the continuation was registered.
            if Task.isCancelled { cancel(event.inboxID, CancellationError()) }
            if Task.isShuttingDownGracefully { cancel(event.inboxID, EventPostponed()) }
        }
    }

    /// Ends the wait for an event. If the daemon has fetched it, it may still be recorded: its redelivery is then
    /// recognized.
    private func cancel(_ inboxID: Int64, _ reason: any Error) {
        let waiter = state.withLock { state in
            state.queue.removeAll { $0.inboxID == inboxID }
            return state.waiting.removeValue(forKey: inboxID)
        }
        waiter?.resume(throwing: reason)
    }

    /// Returns the next event; nil when the task is cancelled.
    private func next() async -> CoreEvent? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result: CoreEvent?? = state.withLock { state in
                    if Task.isCancelled { return .some(nil) }
                    if !state.queue.isEmpty { return .some(state.queue.removeFirst()) }
                    state.reader = continuation
                    return nil
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.reader.take() }?.resume(returning: nil)
        }
    }
}
