import MLS
import Nostr

/// Members who are typing, and this account's own typing notices (docs/protocol/marmot.md §8.2). Never stored.
struct TypingNotices: Sendable {
    /// Seconds that a notice stays valid after it was written.
    static let lifetime: Int64 = 10
    /// Milliseconds between two notices of this account in one chat.
    static let interval: Int64 = 5000
    /// Milliseconds that a notice may wait for a relay.
    static let deliveryTimeout: Int64 = 5000

    /// The time of this account's newest notice to each group, in Unix milliseconds.
    private var sentAt: [GroupID: Int64] = [:]
    /// The time at which each member's typing state expires.
    private var members: [GroupID: [PublicKey: UnixTime]] = [:]
    /// Notices in flight, with the deadline of each in Unix milliseconds.
    private var rows: [String: Int64] = [:]
    /// The scheduled wake-up, in Unix milliseconds.
    private var wake: Int64?

    /// Whether no member is typing, and no notice is in flight.
    var isEmpty: Bool { self.members.isEmpty && self.rows.isEmpty }

    /// Returns the members of a group who are typing.
    func members(of groupID: GroupID) -> Set<PublicKey> { Set(self.members[groupID, default: [:]].keys) }

    // MARK: Own notices

    /// Whether another notice may be sent to a group.
    func maySend(to groupID: GroupID, _ nowMilliseconds: Int64) -> Bool {
        self.sentAt[groupID].map { nowMilliseconds - $0 >= Self.interval } ?? true
    }

    mutating func noteSent(to groupID: GroupID, _ nowMilliseconds: Int64) { self.sentAt[groupID] = nowMilliseconds }

    /// Sets the deadline of a notice in the outbox.
    mutating func track(row: String, _ nowMilliseconds: Int64) {
        self.rows[row] = nowMilliseconds + Self.deliveryTimeout
    }

    // MARK: Other members

    /// Records that a member is typing until a time.
    mutating func receive(_ member: PublicKey, in groupID: GroupID, until end: UnixTime) {
        self.members[groupID, default: [:]][member] = end
    }

    /// Ends a member's typing state; false if it was not typing.
    mutating func end(_ member: PublicKey, in groupID: GroupID) -> Bool {
        self.members[groupID]?.removeValue(forKey: member) != nil
    }

    // MARK: Expiry

    /// Schedules a wake-up at the next expiry or deadline.
    mutating func schedule(_ step: inout CoreStep) {
        guard let next = self.nextEnd, next < self.wake ?? .max else { return }
        self.wake = next
        step.effects.append(.wake(.typing, atMilliseconds: next))
    }

    /// The next expiry or deadline, in Unix milliseconds.
    private var nextEnd: Int64? {
        let members = self.members.values.lazy.flatMap(\.values).min().map(\.milliseconds)
        guard let rows = self.rows.values.min() else { return members }
        return min(rows, members ?? .max)
    }

    /// Handles the wake-up. Returns the rows past their deadline and the groups whose typing members changed; nil if
    /// the wake-up is outdated.
    mutating func wakeUp(_ step: CoreStep) -> (rows: [String], groups: [GroupID])? {
        // Of several timers only the last one scheduled, which is the earliest, counts.
        guard let wake = self.wake, wake <= step.nowMilliseconds else { return nil }
        self.wake = nil
        let overdue = self.rows.filter { $0.value <= step.nowMilliseconds }.map(\.key)
        for row in overdue { self.rows[row] = nil }
        var changed: [GroupID] = []
        for (groupID, members) in self.members {
            let left = members.filter { $0.value > step.now }
            self.members[groupID] = left.isEmpty ? nil : left
            if left.count < members.count { changed.append(groupID) }
        }
        return (overdue, changed)
    }
}

extension UnsignedEvent {
    /// Whether it is a typing notice; any other event of that kind is treated as unknown.
    var isTypingNotice: Bool {
        self.kind == .typing && self.content == "typing" && self.tags.contains { $0.name == "d" && $0.value == "pika" }
    }
}
