import Synchronization

/// All records of one operation, under a lock of its own.
final class OperationTrack: Sendable {
    struct State: Sendable {
        var latency = LatencyTally()
        /// Latencies without the wait for the start; nil, because equal to `latency`, before the first success with an
        /// intended start.
        var service: LatencyTally?
        /// Latencies of closed users among these, by think time.
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
    /// Starts to record service times separately; so far they equal the latencies.
    fileprivate mutating func keepService() {
        if service == nil { service = latency }
    }

    fileprivate mutating func succeeded(_ latency: UInt64, at end: UInt64) {
        successes += 1
        slots.update(at: end) { $0.add(latency) }
    }
}

/// One operation in one time slot.
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

    /// Returns the latency that `percent` of the slot's successes did not exceed, in seconds.
    func percentile(_ percent: Double) -> Double? {
        counts.percentile(percent).map { min(max($0 * 1_000, minimum), maximum).loadSeconds }
    }
}

extension UInt64 {
    /// Converts nanoseconds to seconds.
    var loadSeconds: Double { Double(self) / 1e9 }
}
