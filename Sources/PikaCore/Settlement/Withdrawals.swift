import MLS
import Nostr

/// The messages that left the history of their group with their branch, and the changes of history that handlers do not
/// know yet. Stored in the transaction that hides the messages, so that a crash loses no announcement.
struct Withdrawals: Sendable {
    /// The maximum number of withdrawn messages known per group; the oldest are forgotten. A message that is sent again
    /// later is then restored without an announcement.
    static let maximumGone = 512
    /// The number of times that an own message is sent again while its epochs may be undone: an insider could otherwise
    /// have every message of this account sent again with each of its commits.
    static let maximumRepeats = 16
    /// The maximum number of own messages that are sent again at once, and whose number of repeats is known.
    static let maximumRepeated = 256

    /// Points whose messages were withdrawn or restored, and still have to be announced.
    struct Announcement: Sendable, Hashable {
        let points: [Bytes32]
        let isRestored: Bool
        /// Whether only this account's own messages are left, which are sent again once nothing is undecided.
        var isAnnounced = false
    }

    fileprivate struct Entry: Sendable {
        var tasks: [Announcement] = []
        /// Ids of withdrawn messages of others, oldest first.
        var gone: [EventID] = []
        /// Own messages that were sent again, the latest last.
        var repeats: [Repeat] = []
    }

    /// How often an own message was sent again.
    fileprivate struct Repeat: Sendable, Hashable {
        let id: EventID
        let count: Int
        /// The epoch of the last time.
        let epoch: Epoch
    }

    private var entries: [GroupID: Entry] = [:]

    /// The groups with unfinished tasks.
    var groups: [GroupID] { self.entries.filter { !$0.value.tasks.isEmpty }.keys.sorted() }

    func tasks(of groupID: GroupID) -> [Announcement] { self.entries[groupID]?.tasks ?? [] }

    /// Hides or shows the messages of points, and begins their announcement, which follows on earlier ones.
    mutating func begin(_ points: [Bytes32], isRestored: Bool, of groupID: GroupID, _ step: inout CoreStep) {
        guard !points.isEmpty else { return }
        step.changes.append(
            isRestored
                ? .restoreMessages(groupID: groupID, points: points)
                : .withdrawMessages(groupID: groupID, points: points))
        let isNext = self.next(of: groupID) == nil
        self.entries[groupID, default: Entry()].tasks.append(Announcement(points: points, isRestored: isRestored))
        self.store(groupID, &step)
        if isNext { self.loadNext(of: groupID, &step) }
    }

    /// The oldest task that is not announced. They are announced in order, one at a time; otherwise handlers could take
    /// a restored message for a withdrawn one.
    private func next(of groupID: GroupID) -> Announcement? {
        self.tasks(of: groupID).first { !$0.isAnnounced }
    }

    private func loadNext(of groupID: GroupID, _ step: inout CoreStep) {
        guard let next = self.next(of: groupID) else { return }
        step.effects.append(.loadWithdrawn(groupID: groupID, points: next.points))
    }

    /// Returns the first task about these points, and those of them that a later task restores.
    func task(_ points: [Bytes32], of groupID: GroupID) -> (task: Announcement, reverted: Set<Bytes32>)? {
        let tasks = self.tasks(of: groupID)
        guard let index = tasks.firstIndex(where: { $0.points == points }) else { return nil }
        let restored = tasks[(index + 1)...].filter(\.isRestored).flatMap(\.points)
        return (tasks[index], Set(restored).intersection(points))
    }

    /// Ends a task, or keeps it until nothing is undecided; then continues with the next one.
    mutating func end(_ points: [Bytes32], of groupID: GroupID, isWaiting: Bool, _ step: inout CoreStep) {
        guard let index = self.entries[groupID]?.tasks.firstIndex(where: { $0.points == points }) else { return }
        if isWaiting {
            self.entries[groupID]?.tasks[index].isAnnounced = true
        } else {
            self.entries[groupID]?.tasks.remove(at: index)
        }
        self.store(groupID, &step)
        self.loadNext(of: groupID, &step)
    }

    /// Loads the messages of tasks that waited, and at the start also of the next task.
    func resume(_ groupID: GroupID, isStart: Bool = false, _ step: inout CoreStep) {
        for task in self.tasks(of: groupID) where task.isAnnounced {
            step.effects.append(.loadWithdrawn(groupID: groupID, points: task.points))
        }
        if isStart { self.loadNext(of: groupID, &step) }
    }

    // MARK: Withdrawn messages

    mutating func noteGone(_ ids: [EventID], of groupID: GroupID, _ step: inout CoreStep) {
        guard !ids.isEmpty else { return }
        let new = Set(ids)
        let known = self.entries[groupID]?.gone ?? []
        self.entries[groupID, default: Entry()].gone = Array(
            (known.filter { !new.contains($0) } + ids).suffix(Self.maximumGone))
        self.store(groupID, &step)
    }

    /// Removes messages that came back. Returns those that handlers know as withdrawn.
    mutating func revive(_ ids: [EventID], of groupID: GroupID, _ step: inout CoreStep) -> Set<EventID> {
        let known = Set(ids).intersection(self.entries[groupID]?.gone ?? [])
        guard !known.isEmpty else { return [] }
        self.entries[groupID]?.gone.removeAll(where: known.contains)
        self.store(groupID, &step)
        return known
    }

    // MARK: Own messages

    /// Counts own messages, at most ``maximumRepeated``, as sent again in an epoch. Returns those that must not be sent
    /// again, because they were too often.
    mutating func countRepeats(
        _ ids: [EventID], in epoch: Epoch, of groupID: GroupID, _ step: inout CoreStep
    ) -> Set<EventID> {
        guard !ids.isEmpty else { return [] }
        let former = self.entries[groupID]?.repeats ?? []
        var counts: [EventID: Int] = [:]
        for entry in former { counts[entry.id] = entry.count }
        let new = Set(ids)
        let added = ids.map { Repeat(id: $0, count: min((counts[$0] ?? 0) + 1, Self.maximumRepeats + 1), epoch: epoch) }
        self.entries[groupID, default: Entry()].repeats = Array(
            (former.filter { !new.contains($0.id) } + added).suffix(Self.maximumRepeated))
        self.store(groupID, &step)
        return Set(added.filter { $0.count > Self.maximumRepeats }.map(\.id))
    }

    /// Forgets the counts of messages whose epochs are final.
    mutating func forgetRepeats(of groupID: GroupID, before horizon: Epoch, _ step: inout CoreStep) {
        guard self.entries[groupID]?.repeats.contains(where: { $0.epoch < horizon }) == true else { return }
        self.entries[groupID]?.repeats.removeAll { $0.epoch < horizon }
        self.store(groupID, &step)
    }

    /// Forgets the messages of a group that this account is out of. Announcements that are due stay.
    mutating func forgetMessages(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.entries[groupID] != nil else { return }
        self.entries[groupID]?.gone = []
        self.entries[groupID]?.repeats = []
        self.store(groupID, &step)
    }

    // MARK: Stored form

    private mutating func store(_ groupID: GroupID, _ step: inout CoreStep) {
        if let entry = self.entries[groupID], entry.isEmpty { self.entries[groupID] = nil }
        step.changes.append(.putMemo(MemoName(.withdrawal, groupID), self.entries[groupID]?.stored))
    }

    /// Restores a group's entry; false if the memo is unreadable.
    mutating func restore(_ groupID: GroupID, _ memo: Secret) -> Bool {
        guard let entry = Entry(stored: memo) else { return false }
        self.entries[groupID] = entry
        return true
    }
}

/// The stored form: JSON, version 1.
extension Withdrawals.Entry {
    fileprivate var isEmpty: Bool { self.tasks.isEmpty && self.gone.isEmpty && self.repeats.isEmpty }

    fileprivate var stored: Secret {
        let tasks: [JSONValue] = self.tasks.map { task in
            [
                "points": .array(task.points.map { .string($0.hex) }), "restored": .bool(task.isRestored),
                "announced": .bool(task.isAnnounced),
            ]
        }
        let repeats: [JSONValue] = self.repeats.map { entry in
            [
                "id": .string(entry.id.hex), "count": .integer(Int64(entry.count)),
                "epoch": .string("\(entry.epoch.rawValue)"),
            ]
        }
        return Secret(
            JSONValue.object([
                "v": 1, "tasks": .array(tasks), "gone": .array(self.gone.map { .string($0.hex) }),
                "repeats": .array(repeats),
            ]).json())
    }

    fileprivate init?(stored: Secret) {
        guard let json = JSONValue(memo: stored), let tasks = json["tasks"]?.array, let gone = json["gone"]?.array
        else { return nil }
        for task in tasks {
            guard let list = task["points"]?.array, let isRestored = task["restored"]?.bool,
                let isAnnounced = task["announced"]?.bool
            else { return nil }
            let points = list.compactMap { $0.string.flatMap { Bytes32(hex: $0) } }
            guard points.count == list.count else { return nil }
            self.tasks.append(.init(points: points, isRestored: isRestored, isAnnounced: isAnnounced))
        }
        self.gone = gone.compactMap { $0.string.flatMap { try? EventID(hex: $0) } }
        guard self.gone.count == gone.count else { return nil }
        for item in json["repeats"]?.array ?? [] {
            guard let id = item["id"]?.string.flatMap({ try? EventID(hex: $0) }), let count = item["count"]?.integer,
                let epoch = item["epoch"]?.string.flatMap({ UInt64($0) })
            else { return nil }
            let limit = Int64(Withdrawals.maximumRepeats) + 1
            self.repeats.append(
                Withdrawals.Repeat(
                    id: id, count: Int(clamping: max(0, min(count, limit))), epoch: Epoch(rawValue: epoch)))
        }
    }
}
