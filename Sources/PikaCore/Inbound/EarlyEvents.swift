import Nostr

/// Waiting events whose time is further ahead of this machine's clock than members allow, held until the clock catches
/// up.
///
/// They are also among their groups' waiting events, whose limits bound them.
struct EarlyEvents: Sendable {
    /// The maximum number of milliseconds between two checks: the clock may be corrected at any time.
    static let interval: Int64 = 30_000

    private struct Entry {
        /// The event's routing id.
        let nostrGroupID: Bytes32
        /// The time from which the event is accepted.
        let dueTime: UnixTime
    }

    private var entries: [EventID: Entry] = [:]
    private var isWaking = false

    var count: Int { self.entries.count }

    mutating func insert(_ id: EventID, under nostrGroupID: Bytes32, dueTime: UnixTime) {
        self.entries[id] = Entry(nostrGroupID: nostrGroupID, dueTime: dueTime)
    }

    mutating func remove(_ id: EventID) { self.entries[id] = nil }

    /// Removes the events that are due and returns their routing ids. An event that stays unopened then waits for
    /// another reason.
    mutating func removeDue(now: UnixTime) -> Set<Bytes32> {
        let due = self.entries.filter { $0.value.dueTime <= now }
        for id in due.keys { self.entries[id] = nil }
        return Set(due.values.map(\.nostrGroupID))
    }

    /// Returns the next check in Unix milliseconds; nil if one is scheduled already, or no event waits.
    mutating func nextWake(nowMilliseconds now: Int64) -> Int64? {
        guard !self.isWaking, let first = self.entries.values.map(\.dueTime).min() else { return nil }
        self.isWaking = true
        return min(max(first.milliseconds, now), now.clampedAdding(Self.interval))
    }

    /// Records that the scheduled check took place.
    mutating func woke() { self.isWaking = false }
}
