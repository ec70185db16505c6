import PikaCore
import Synchronization

/// Events on their way from an account's dispatcher to the daemon of one program.
///
/// The dispatcher decides what the program gets; whoever hands an event over waits until the daemon has recorded it.
final class EventIntake: Sendable {
    private struct State {
        var waiting: [Int64: CheckedContinuation<Void, any Error>] = [:]
        var newest: Int64 = 0
    }

    let events: AsyncStream<CoreEvent>
    private let input: AsyncStream<CoreEvent>.Continuation
    private let state = Mutex(State())

    init() {
        (events, input) = AsyncStream.makeStream()
    }

    /// The newest event that was handed over; 0 if there was none.
    var newest: Int64 { state.withLock { $0.newest } }

    /// Returns when the event is recorded; throws when the task is cancelled before.
    func take(_ event: CoreEvent) async throws {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let earlier = state.withLock { state in
                    state.newest = max(state.newest, event.inboxID)
                    return state.waiting.updateValue(continuation, forKey: event.inboxID)
                }
                earlier?.resume(throwing: CancellationError())
                input.yield(event)
                if Task.isCancelled { giveUp(event.inboxID) }
            }
        } onCancel: {
            giveUp(event.inboxID)
        }
    }

    func complete(_ inboxID: Int64) {
        state.withLock { $0.waiting.removeValue(forKey: inboxID) }?.resume()
    }

    private func giveUp(_ inboxID: Int64) {
        state.withLock { $0.waiting.removeValue(forKey: inboxID) }?.resume(throwing: CancellationError())
    }
}
