import Synchronization

/// A manually advanced clock.
final class ManualClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct Watcher {
        let deadlines: ClosedRange<Instant>
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var next = 0
        var sleepers: [Int: Sleeper] = [:]
        var watchers: [Watcher] = []
    }

    private let state = Mutex(State())

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let ticket = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait(Sleeper(deadline: deadline, continuation: $0), ticket) }
        } onCancel: {
            let sleeper = state.withLock { $0.sleepers.removeValue(forKey: ticket) }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func wait(_ sleeper: Sleeper, _ ticket: Int) {
        let (result, watchers) = state.withLock { state -> (Result<Void, any Error>?, [Watcher]) in
            if Task.isCancelled { return (.failure(CancellationError()), []) }
            if sleeper.deadline <= state.now { return (.success(()), []) }
            state.sleepers[ticket] = sleeper
            let seen = state.watchers.filter { $0.deadlines.contains(sleeper.deadline) }
            state.watchers.removeAll { $0.deadlines.contains(sleeper.deadline) }
            return (nil, seen)
        }
        if let result { sleeper.continuation.resume(with: result) }
        for watcher in watchers { watcher.continuation.resume() }
    }

    /// Returns when a task sleeps until exactly this time since the start.
    func sleeper(until offset: Duration) async { await sleeper(until: offset...offset) }

    /// Returns when a task sleeps until a time in this range.
    func sleeper(until offsets: ClosedRange<Duration>) async {
        await withCheckedContinuation { continuation in
            let deadlines = Instant(offset: offsets.lowerBound)...Instant(offset: offsets.upperBound)
            let isThere = state.withLock { state in
                let isThere = state.sleepers.values.contains { deadlines.contains($0.deadline) }
                if !isThere { state.watchers.append(Watcher(deadlines: deadlines, continuation: continuation)) }
                return isThere
            }
            if isThere { continuation.resume() }
        }
    }

    func advance(to offset: Duration) {
        let due = state.withLock { state in
            state.now = Instant(offset: offset)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.values.sorted { $0.deadline < $1.deadline }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
