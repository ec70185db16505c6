import MLS
import Marmot
import Nostr

/// Stored group events that could not be decrypted on arrival: bounded by budgets (``PendingEvents``), with a timer for
/// those ahead of the clock (``EarlyEvents``).
struct WaitingEvents: Sendable {
    private var pending = PendingEvents()
    private var early = EarlyEvents()

    // MARK: Contents

    var total: ParkingBudget { self.pending.total }
    /// Outer-layer decryptions attempted so far.
    var trialCount: Int { self.pending.trialCount }
    var earlyCount: Int { self.early.count }

    func trialCount(of groupID: GroupID) -> Int { self.pending.trialCount(of: groupID) }

    func contains(_ id: EventID) -> Bool { self.pending.contains(id) }

    func isEmpty(under ids: [Bytes32]) -> Bool { self.pending.isEmpty(under: ids) }

    /// Whether some event under these routing ids has not been opened by any key.
    func hasUnopened(under ids: [Bytes32]) -> Bool { self.pending.hasUnopened(under: ids) }

    /// Returns the events under these routing ids in the order of their `created_at`.
    func events(under ids: [Bytes32]) -> [Event] { self.pending.events(under: ids) }

    // MARK: Changes

    /// Adds a stored event.
    mutating func restore(_ waiting: WaitingEvent, under id: Bytes32) {
        guard self.pending.insert(waiting, under: id) else { return }
        let dueTime = GroupEvents.dueTime(of: waiting.event)
        if dueTime > waiting.arrivedAt { self.early.insert(waiting.event.id, under: id, dueTime: dueTime) }
    }

    /// Parks an event that all keys of a group were tried on. Returns false if it was parked before.
    mutating func park(
        _ event: Event, under id: Bytes32, triedBy groupID: GroupID, _ reason: WaitingReason, _ ring: OuterKeyRing,
        chatID: ChatID?, _ step: inout CoreStep
    ) -> Bool {
        self.park(
            event, under: id, triedBy: groupID, CoreReason(reason), reason.explanation, ring, chatID: chatID, &step)
    }

    /// As ``park(_:under:triedBy:_:_:chatID:_:)``, with any reason and its explanation.
    mutating func park(
        _ event: Event, under id: Bytes32, triedBy groupID: GroupID, _ reason: CoreReason, _ detail: String,
        _ ring: OuterKeyRing, chatID: ChatID?, _ step: inout CoreStep
    ) -> Bool {
        let waiting = WaitingEvent(event: event, arrivedAt: step.now)
        guard self.pending.insert(waiting, under: id, triedBy: groupID, isOpened: reason != .noKey, ring) else {
            return false
        }
        step.changes.append(.putWaiting(waiting))
        step.effects.append(.note(.waiting(reason: reason.rawValue)))
        step.observe(.waiting, reason, detail, event.id, chatID: chatID)
        return true
    }

    /// Removes an event and returns its routing id; nil if it was not parked.
    mutating func remove(_ id: EventID, _ step: inout CoreStep) -> Bytes32? {
        guard let nostrGroupID = self.pending.remove(id) else { return nil }
        self.early.remove(id)
        step.changes.append(.deleteWaiting(id))
        return nostrGroupID
    }

    /// Removes all events under a routing id that no group claims now.
    mutating func removeAll(under nostrGroupID: Bytes32, _ step: inout CoreStep) {
        for id in self.pending.removeAll(under: nostrGroupID) {
            self.early.remove(id)
            step.changes.append(.deleteWaiting(id))
        }
    }

    /// Returns the event to evict, with its routing id; nil while all budgets are kept.
    func surplus() -> (nostrGroupID: Bytes32, id: EventID)? { self.pending.surplus() }

    // MARK: Retries

    /// Updates the keys of a group that events are tried with.
    mutating func follow(_ ring: OuterKeyRing, of groupID: GroupID, under ids: [Bytes32]) {
        self.pending.follow(ring, of: groupID, under: ids)
    }

    /// Whether a group should try an event in full (``PendingEvents/isDue(_:of:_:)``).
    mutating func isDue(_ event: Event, of groupID: GroupID, _ ring: OuterKeyRing) -> Bool {
        self.pending.isDue(event, of: groupID, ring)
    }

    // MARK: The clock

    /// Registers a parked event that is ahead of the clock.
    mutating func awaitClock(_ event: Event, _ step: inout CoreStep) {
        guard self.pending.contains(event.id), let id = try? GroupEvents.nostrGroupID(of: event) else { return }
        if self.early.count == 0 {
            step.effects.append(.note(.ahead(seconds: event.createdAt.seconds(since: step.now))))
        }
        self.early.insert(event.id, under: id, dueTime: GroupEvents.dueTime(of: event))
        self.scheduleClockCheck(&step)
    }

    /// Records that the scheduled check of the clock took place.
    mutating func endClockCheck() { self.early.woke() }

    /// Schedules the next check of the clock, unless one is scheduled or no event waits for it.
    mutating func scheduleClockCheck(_ step: inout CoreStep) {
        guard let time = self.early.nextWake(nowMilliseconds: step.nowMilliseconds) else { return }
        step.effects.append(.wake(.clock, atMilliseconds: time))
    }

    /// Returns the routing ids of events whose time has come, in order. Each event is due once.
    mutating func dueRoutes(now: UnixTime) -> [Bytes32] { self.early.removeDue(now: now).sorted() }
}
