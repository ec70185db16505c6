import MLS
import Marmot
import Nostr

/// A number of parked events and of their bytes: a limit, or a current total.
struct ParkingBudget: Sendable, Hashable {
    var events: Int
    var bytes: Int
}

extension Event {
    /// The approximate memory cost of the event: its strings, and an allowance for the rest.
    var parkedBytes: Int {
        self.tags.reduce(256 + self.content.utf8.count) { sum, tag in
            tag.values.reduce(sum) { $0 + 16 + $1.utf8.count }
        }
    }
}

/// Group events that could not be opened on arrival, within budgets per routing id and for the account.
///
/// Each event is kept once, under its routing id, for all groups that claim the id. Anyone who knows the id can park
/// events here. Events that no known key opens are evicted first: the largest if the bytes are exceeded, else the
/// oldest. An event whose outer layer a known key opened comes from a current or former member.
struct PendingEvents: Sendable {
    private struct Entry: Sendable {
        let waiting: WaitingEvent
        let bytes: Int
        /// The position in the order of arrival.
        let number: Int
        /// The group with a key that opened its outer layer.
        var opener: GroupID?
    }

    /// The events under one routing id.
    private struct Queue: Sendable {
        private(set) var entries: [EventID: Entry] = [:]
        private(set) var bytes = 0
        private(set) var junkBytes = 0
        var trials: [GroupID: OuterKeyTrials] = [:]

        /// Returns false if the event is already queued.
        mutating func insert(_ entry: Entry) -> Bool {
            let id = entry.waiting.event.id
            guard self.entries[id] == nil else { return false }
            self.entries[id] = entry
            self.bytes += entry.bytes
            if entry.opener == nil { self.junkBytes += entry.bytes }
            return true
        }

        mutating func noteOpened(_ id: EventID, by groupID: GroupID) {
            guard let entry = self.entries[id], entry.opener == nil else { return }
            self.entries[id]?.opener = groupID
            self.junkBytes -= entry.bytes
        }

        mutating func noteTried(_ id: EventID, by groupID: GroupID, _ ring: OuterKeyRing) {
            self.trials[groupID, default: OuterKeyTrials()].follow(ring)
            self.trials[groupID]?.noteTried(id)
        }

        mutating func remove(_ id: EventID) -> Entry? {
            guard let entry = self.entries.removeValue(forKey: id) else { return nil }
            self.bytes -= entry.bytes
            if entry.opener == nil { self.junkBytes -= entry.bytes }
            for groupID in self.trials.keys { self.trials[groupID]?.forget(id) }
            return entry
        }
    }

    /// The budget of one routing id, and so of each group.
    static let standardGroup = ParkingBudget(events: 1000, bytes: 8 << 20)
    static let standardAccount = ParkingBudget(events: 8000, bytes: 32 << 20)

    private let groupBudget: ParkingBudget
    private let accountBudget: ParkingBudget
    private var queues: [Bytes32: Queue] = [:]
    private var routes: [EventID: Bytes32] = [:]
    private var lastNumber = 0
    private(set) var total = ParkingBudget(events: 0, bytes: 0)
    /// Outer-layer decryptions attempted so far.
    private(set) var trialCount = 0

    init(group: ParkingBudget = Self.standardGroup, account: ParkingBudget = Self.standardAccount) {
        self.groupBudget = group
        self.accountBudget = account
    }

    // MARK: Contents

    var isEmpty: Bool { self.routes.isEmpty }

    /// All events with their routing ids.
    var all: [(nostrGroupID: Bytes32, waiting: WaitingEvent)] {
        self.queues.flatMap { id, queue in queue.entries.values.map { (id, $0.waiting) } }
    }

    func contains(_ id: EventID) -> Bool { self.routes[id] != nil }

    func isEmpty(under ids: [Bytes32]) -> Bool { ids.allSatisfy { self.queues[$0] == nil } }

    /// Whether some event under these routing ids has not been opened by any key.
    func hasUnopened(under ids: [Bytes32]) -> Bool {
        ids.contains { self.queues[$0]?.entries.values.contains { $0.opener == nil } == true }
    }

    /// Returns the events under these routing ids in the order of their `created_at`.
    func events(under ids: [Bytes32]) -> [Event] {
        ids.flatMap { self.queues[$0]?.entries.values.map(\.waiting.event) ?? [] }.sorted {
            ($0.createdAt, $0.id) < ($1.createdAt, $1.id)
        }
    }

    /// Parks an event that no key was tried on. Returns false if it was parked before.
    @discardableResult
    mutating func insert(_ waiting: WaitingEvent, under id: Bytes32) -> Bool {
        self.insert(waiting, under: id, opener: nil)
    }

    /// Parks an event that all keys of a group were tried on. If it was parked before, returns false and only records
    /// whether a key opened its outer layer.
    mutating func insert(
        _ waiting: WaitingEvent, under id: Bytes32, triedBy groupID: GroupID, isOpened: Bool, _ ring: OuterKeyRing
    ) -> Bool {
        let isNew = self.insert(waiting, under: id, opener: isOpened ? groupID : nil)
        if isOpened {
            self.queues[id]?.noteOpened(waiting.event.id, by: groupID)
        } else {
            self.queues[id]?.noteTried(waiting.event.id, by: groupID, ring)
        }
        return isNew
    }

    private mutating func insert(_ waiting: WaitingEvent, under id: Bytes32, opener: GroupID?) -> Bool {
        guard self.routes[waiting.event.id] == nil else { return false }
        self.lastNumber += 1
        let entry = Entry(
            waiting: waiting, bytes: waiting.event.parkedBytes, number: self.lastNumber, opener: opener)
        guard self.queues[id, default: Queue()].insert(entry) else { return false }
        self.routes[waiting.event.id] = id
        self.total.events += 1
        self.total.bytes += entry.bytes
        return true
    }

    /// Removes an event and returns its routing id; nil if it was not parked.
    @discardableResult
    mutating func remove(_ event: EventID) -> Bytes32? {
        guard let id = self.routes.removeValue(forKey: event), let entry = self.queues[id]?.remove(event) else {
            return nil
        }
        if self.queues[id]?.entries.isEmpty == true { self.queues[id] = nil }
        self.total.events -= 1
        self.total.bytes -= entry.bytes
        return id
    }

    /// Removes all events under a routing id.
    mutating func removeAll(under id: Bytes32) -> [EventID] {
        let events = self.queues[id].map { Array($0.entries.keys) } ?? []
        for event in events { self.remove(event) }
        return events
    }

    // MARK: Retries

    /// Updates the keys of a group that events are tried with.
    mutating func follow(_ ring: OuterKeyRing, of groupID: GroupID, under ids: [Bytes32]) {
        for id in ids where self.queues[id] != nil {
            self.queues[id]?.trials[groupID, default: OuterKeyTrials()].follow(ring)
        }
    }

    /// Whether a group should try an event in full: a key of this group opened its outer layer before, or one of the
    /// group's untried keys opens it now.
    mutating func isDue(_ event: Event, of groupID: GroupID, _ ring: OuterKeyRing) -> Bool {
        guard let id = self.routes[event.id], let entry = self.queues[id]?.entries[event.id] else { return false }
        if let opener = entry.opener { return opener == groupID }
        let before = self.trialCount(of: groupID, under: id)
        let opens = self.queues[id]?.trials[groupID]?.opens(event, ring) == true
        self.trialCount += self.trialCount(of: groupID, under: id) - before
        return opens
    }

    private func trialCount(of groupID: GroupID, under id: Bytes32) -> Int {
        self.queues[id]?.trials[groupID]?.trialCount ?? 0
    }

    /// Outer-layer decryptions attempted for a group on the events parked under any routing id.
    func trialCount(of groupID: GroupID) -> Int {
        self.queues.keys.reduce(0) { $0 + self.trialCount(of: groupID, under: $1) }
    }

    // MARK: Budgets

    /// Returns the event to evict, with its routing id; nil while all budgets are met.
    func surplus() -> (nostrGroupID: Bytes32, id: EventID)? {
        for (id, queue) in self.queues {
            let isLong = queue.entries.count > self.groupBudget.events
            guard isLong || queue.bytes > self.groupBudget.bytes else { continue }
            return Self.victim(of: queue, isLong: isLong).map { (id, $0) }
        }
        let isLong = self.total.events > self.accountBudget.events
        guard isLong || self.total.bytes > self.accountBudget.bytes,
            let (id, queue) = self.queues.max(by: {
                ($0.value.junkBytes, $0.value.bytes) < ($1.value.junkBytes, $1.value.bytes)
            })
        else { return nil }
        return Self.victim(of: queue, isLong: isLong).map { (id, $0) }
    }

    private static func victim(of queue: Queue, isLong: Bool) -> EventID? {
        func isBefore(_ left: Entry, _ right: Entry) -> Bool {
            if (left.opener == nil) != (right.opener == nil) { return left.opener == nil }
            if !isLong, left.bytes != right.bytes { return left.bytes > right.bytes }
            return left.number < right.number
        }
        return queue.entries.values.min(by: isBefore)?.waiting.event.id
    }
}
