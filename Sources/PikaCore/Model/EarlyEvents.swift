import Nostr

/// Waiting events whose time is further ahead of this machine's clock than members allow, until the clock catches up.
///
/// They are part of the waiting events of their groups, whose limits bound them.
struct EarlyEvents: Sendable {
    /// Milliseconds between two looks at the clock: somebody may set it right at any time.
    static let interval: Int64 = 30_000

    private struct Entry {
        /// The routing id that it bears.
        let nostrGroupID: Bytes32
        /// Unix seconds from which the event is accepted.
        let dueTime: Int64
    }

    private var entries: [EventID: Entry] = [:]
    private var isWaking = false

    var count: Int { self.entries.count }

    mutating func insert(_ id: EventID, under nostrGroupID: Bytes32, dueTime: Int64) {
        self.entries[id] = Entry(nostrGroupID: nostrGroupID, dueTime: dueTime)
    }

    mutating func remove(_ id: EventID) { self.entries[id] = nil }

    /// Removes the events that are due and returns their routing ids. What still waits then waits for something else.
    mutating func takeDue(now: Int64) -> Set<Bytes32> {
        let due = self.entries.filter { $0.value.dueTime <= now }
        for id in due.keys { self.entries[id] = nil }
        return Set(due.values.map(\.nostrGroupID))
    }

    /// When to look again, in Unix milliseconds; nil if that is scheduled already, or nothing waits.
    mutating func nextWake(nowMilliseconds now: Int64) -> Int64? {
        guard !self.isWaking, let first = self.entries.values.map(\.dueTime).min() else { return nil }
        self.isWaking = true
        return min(max(first.clampedMultiplied(by: 1000), now), now.clampedAdding(Self.interval))
    }

    /// The scheduled look takes place.
    mutating func woke() { self.isWaking = false }
}
