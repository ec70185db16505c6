public import PikaCore
import Synchronization

/// A clock that stands still until it is advanced.
public final class ManualClock: CoreClock {
    private struct Sleeper {
        let deadline: Int64
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now: Int64
        var nextNumber = 0
        /// By number: of equal deadlines, the first sleeper wakes first.
        var sleepers: [Int: Sleeper] = [:]
        /// Cancelled before they slept.
        var cancelled: Set<Int> = []
    }

    private let state: Mutex<State>

    /// - Parameter milliseconds: the initial time, Unix milliseconds.
    public init(milliseconds: Int64 = 1_800_000_000_000) {
        self.state = Mutex(State(now: milliseconds))
    }

    /// The current time, Unix milliseconds.
    public var nowMilliseconds: Int64 { self.state.withLock { $0.now } }

    /// The current time: it never goes back.
    public var monotonicMilliseconds: Int64 { self.nowMilliseconds }

    /// The earliest deadline of all sleepers, Unix milliseconds; nil without sleepers.
    public var nextDeadline: Int64? { self.state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    /// The number of tasks that sleep now.
    public var sleeperCount: Int { self.state.withLock { $0.sleepers.count } }

    /// Returns when the clock has been advanced to `time`, Unix milliseconds, at once if it is past; throws only when
    /// the task is cancelled.
    public func sleep(untilMilliseconds time: Int64) async throws {
        let number = self.state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        defer { self.state.withLock { _ = $0.cancelled.remove(number) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.suspend($0, until: time, number: number) }
        } onCancel: {
            self.cancel(number)
        }
    }

    /// As ``sleep(untilMilliseconds:)``.
    public func sleep(untilMonotonicMilliseconds time: Int64) async throws {
        try await self.sleep(untilMilliseconds: time)
    }

    /// Moves the time forward and wakes the current sleepers that are due, in the order of their deadlines.
    ///
    /// A task that sleeps again after waking is not woken by the same call; ``GroupLab/advance(by:)`` does that.
    public func advance(by duration: Duration) {
        self.advance(toMilliseconds: self.nowMilliseconds + duration.milliseconds)
    }

    /// As ``advance(by:)``; a time in the past has no effect.
    public func advance(toMilliseconds time: Int64) {
        while let sleeper = self.takeNext(until: time) { sleeper.resume() }
        self.state.withLock { $0.now = max($0.now, time) }
    }

    private func takeNext(until time: Int64) -> CheckedContinuation<Void, any Error>? {
        self.state.withLock { state in
            let next = state.sleepers.min { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }
            guard let next, next.value.deadline <= time else { return nil }
            state.now = max(state.now, next.value.deadline)
            return state.sleepers.removeValue(forKey: next.key)?.continuation
        }
    }

    private func suspend(_ continuation: CheckedContinuation<Void, any Error>, until time: Int64, number: Int) {
        let isOver: Result<Void, any Error>? = self.state.withLock { state in
            if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
            if time <= state.now { return .success(()) }
            state.sleepers[number] = Sleeper(deadline: time, continuation: continuation)
            return nil
        }
        if let isOver { continuation.resume(with: isOver) }
    }

    private func cancel(_ number: Int) {
        let sleeper = self.state.withLock { state in
            let sleeper = state.sleepers.removeValue(forKey: number)
            if sleeper == nil { state.cancelled.insert(number) }
            return sleeper
        }
        sleeper?.continuation.resume(throwing: CancellationError())
    }
}

extension Duration {
    /// Whole milliseconds, rounded towards zero.
    var milliseconds: Int64 {
        self.components.seconds * 1000 + self.components.attoseconds / 1_000_000_000_000_000
    }
}
