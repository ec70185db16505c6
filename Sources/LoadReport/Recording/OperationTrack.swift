import Synchronization

/// Everything recorded about one operation, behind a lock of its own.
final class OperationTrack: Sendable {
    struct State: Sendable {
        var latency = LatencyTally()
        /// Without the time spent waiting for the start; kept from the first success on that has an intended start.
        var service: LatencyTally?
        /// Of these, what users found who act again only when they were answered, by how long they think in between.
        var closed: [UInt64: LatencyTally] = [:]
        var successes = 0
        var failures = FailureReasons()
        var slots: TimeSlots<OperationSlot>
    }

    private let state: Mutex<State>

    init(capacity: Int) { state = Mutex(State(slots: TimeSlots(capacity: capacity))) }

    func success(latency: UInt64, at end: UInt64) {
        state.withLock { state in
            state.latency.record(latency)
            state.service?.record(latency)
            state.succeeded(latency, at: end)
        }
    }

    func success(latency: UInt64, service: UInt64, at end: UInt64) {
        state.withLock { state in
            state.keepService()
            state.latency.record(latency)
            state.service?.record(service)
            state.succeeded(latency, at: end)
        }
    }

    func success(latency: UInt64, thinking: UInt64, at end: UInt64) {
        state.withLock { state in
            state.keepService()
            state.latency.record(latency)
            state.service?.record(latency)
            state.closed[thinking, default: LatencyTally()].record(latency)
            state.succeeded(latency, at: end)
        }
    }

    func failure(_ reason: String, at nanoseconds: UInt64) {
        state.withLock { state in
            state.failures.add(reason, at: nanoseconds)
            state.slots.update(at: nanoseconds) { $0.failures += 1 }
        }
    }

    var current: State { state.withLock { $0 } }
}

extension OperationTrack.State {
    /// Until now both were the same.
    fileprivate mutating func keepService() {
        if service == nil { service = latency }
    }

    fileprivate mutating func succeeded(_ latency: UInt64, at end: UInt64) {
        successes += 1
        slots.update(at: end) { $0.add(latency) }
    }
}

/// One operation in one slot of time.
struct OperationSlot: TimeSlot {
    var counts = CompactCounts()
    var failures = 0
    var sumNanoseconds = 0.0
    var minimum = UInt64.max
    var maximum: UInt64 = 0

    mutating func add(_ nanoseconds: UInt64) {
        counts.add(nanoseconds / 1_000)
        sumNanoseconds += Double(nanoseconds)
        minimum = min(minimum, nanoseconds)
        maximum = max(maximum, nanoseconds)
    }

    mutating func merge(_ later: OperationSlot) {
        counts.merge(later.counts)
        failures += later.failures
        sumNanoseconds += later.sumNanoseconds
        minimum = min(minimum, later.minimum)
        maximum = max(maximum, later.maximum)
    }

    /// The latency that `percent` of the slot's successes did not exceed, in seconds.
    func percentile(_ percent: Double) -> Double? {
        counts.percentile(percent).map { min(max($0 * 1_000, minimum), maximum).loadSeconds }
    }
}

extension UInt64 {
    /// Nanoseconds as seconds.
    var loadSeconds: Double { Double(self) / 1e9 }
}
