import MLS
import Marmot
import Nostr

/// Reading of stored events from relays, and the live events held until older ones are read.
///
/// A ratchet skips a limited number of messages (RFC 9420 §9.1): processing a live event before hundreds of older ones
/// would make those unreadable. Live events are therefore held while older ones are being read.
struct CatchUp: Sendable {
    /// Relays whose stored events are being read since they connected.
    private(set) var relays: Set<RelayURL> = []
    /// Searches in progress for all events of a group.
    private var groups: [GroupID: Int] = [:]
    private var retries = ReadRetries()
    private var held = HeldLiveEvents()
    /// Groups some of whose waiting events were evicted for lack of room: relays still hold them.
    private var evicted: Set<GroupID> = []
    /// Group relays that were ignored at the last check.
    private var ignoredRelays = 0
    private(set) var gaps = RelayGaps()
    private(set) var cursors: Cursors

    init(_ cursors: [String: Int64] = [:]) {
        self.cursors = Cursors(cursors)
    }

    var isIdle: Bool { self.relays.isEmpty && self.groups.isEmpty }
    /// The groups whose events are being searched for.
    var readingGroups: some Collection<GroupID> { self.groups.keys }

    /// Whether a group's stored events are being read, from any of its relays.
    func isReading(_ groupID: GroupID, from relays: @autoclosure () -> [RelayURL]) -> Bool {
        if self.groups[groupID] != nil { return true }
        return !self.relays.isEmpty && relays().contains(where: self.relays.contains)
    }

    // MARK: Relays

    /// Prepares for reading a relay that has reconnected.
    ///
    /// - Parameter cursor: the relay's cursor when it reconnected.
    mutating func reconnect(_ relay: RelayURL, cursor: UnixTime?) {
        self.retries.renew(.relay(relay))
        self.gaps.open(at: relay, from: cursor)
    }

    mutating func beginRead(of relay: RelayURL) {
        if !self.retries.isExhausted(.relay(relay)) { self.relays.insert(relay) }
    }

    /// Records that a relay was read to the end.
    mutating func endRead(of relay: RelayURL) {
        self.retries.succeed(.relay(relay))
        self.relays.remove(relay)
    }

    /// Records a failed read and returns the milliseconds before the next one. After a few failures live events no
    /// longer wait for the relay.
    mutating func failRead(of relay: RelayURL) -> Int64 {
        let delay = self.retries.fail(.relay(relay))
        if self.retries.isExhausted(.relay(relay)) { self.relays.remove(relay) }
        return delay
    }

    /// Removes a relay that is no longer queried.
    mutating func remove(_ relay: RelayURL) {
        self.relays.remove(relay)
        self.gaps.remove(relay)
    }

    /// Reports that more group relays are beyond the limits than at the last check.
    mutating func noteIgnoredRelays(_ count: Int, _ step: inout CoreStep) {
        if count > self.ignoredRelays {
            step.effects.append(
                .note(
                    .refused(
                        reason: CountedReason.tooManyGroupRelays.rawValue,
                        detail: "\(count) group relays are ignored: at most "
                            + "\(RelaySelection.perGroup) per group and \(RelaySelection.ofGroups) in total are used"))
            )
        }
        self.ignoredRelays = count
    }

    /// Records that a relay was read to the end; its events are about to be processed. Returns the visible gap; nil if
    /// none is open.
    mutating func noteRead(
        of relay: RelayURL, undecided: Set<EventID>, _ shown: AppState.RelayGap?, now: UnixTime
    ) -> AppState.RelayGap? {
        self.gaps.noteRead(of: relay, undecided: undecided, shown, now: now)
    }

    /// Recounts the processed events of gaps; each gap is reported once none of its events is held.
    ///
    /// - Parameter shown: the visible gap of a relay.
    /// - Returns: the visible gaps that were recounted.
    mutating func recountGaps(
        shown: (RelayURL) -> AppState.RelayGap?, isSeen: (EventID) -> Bool, _ step: inout CoreStep
    ) -> [(relay: RelayURL, gap: AppState.RelayGap)] {
        let held = self.held
        return self.gaps.recount(
            shown: shown, isSeen: isSeen, isHeld: { ids in held.contains { ids.contains($0.id) } }, &step)
    }

    // MARK: Groups

    mutating func beginRead(of groupID: GroupID, from relay: RelayURL) {
        if !self.retries.isExhausted(.group(groupID, relay)) { self.groups[groupID, default: 0] += 1 }
    }

    /// Ends one search for a group's events; live events of the group wait for one relay only.
    ///
    /// - Returns: the relays that answered, or the milliseconds before the next attempt if none did.
    mutating func endRead(
        of groupID: GroupID, _ outcomes: [RelayURL: FetchOutcome]
    ) -> (answered: [RelayURL], retryDelay: Int64?) {
        var answered: [RelayURL] = []
        var wasHolding = false
        var delay = ReadRetries.firstDelay
        for (relay, outcome) in outcomes {
            let reading = ReadRetries.Reading.group(groupID, relay)
            wasHolding = wasHolding || !self.retries.isExhausted(reading)
            guard case .events = outcome else {
                delay = self.retries.fail(reading)
                continue
            }
            answered.append(relay)
            self.retries.succeed(reading)
        }
        let underWay = (self.groups[groupID] ?? 0) - (wasHolding ? 1 : 0)
        self.groups[groupID] = answered.isEmpty && underWay > 0 ? underWay : nil
        return (answered, answered.isEmpty ? delay : nil)
    }

    /// Grants one more attempt: the relay is connected again.
    mutating func renew(_ groupID: GroupID, from relay: RelayURL) { self.retries.renew(.group(groupID, relay)) }

    /// Removes the failure counts of a group that this account is no longer a member of.
    mutating func forgetFailures(of groupID: GroupID) { self.retries.forget(groupID) }

    /// Records groups that must be read again, because their waiting events were evicted.
    mutating func noteEvicted(_ groups: [GroupID]) { self.evicted.formUnion(groups) }

    /// Returns whether a group must be read again, once.
    mutating func consumeEviction(of groupID: GroupID) -> Bool { self.evicted.remove(groupID) != nil }

    // MARK: Cursors

    /// Records the time up to which a relay was read.
    mutating func advanceCursor(of relay: RelayURL, to time: UnixTime, _ step: inout CoreStep) {
        self.cursors.advance(relay, to: time, &step)
    }

    /// Records whether a group's events on a relay are still to be read.
    mutating func noteBacklog(of groupID: GroupID, at relay: RelayURL, isDue: Bool, _ step: inout CoreStep) {
        self.cursors.noteBacklog(groupID, relay, isDue: isDue, &step)
    }

    /// Records the time of an invitation; an earlier one than before is ignored.
    mutating func noteInvitation(to groupID: GroupID, at time: UnixTime, _ step: inout CoreStep) {
        self.cursors.noteInvitation(to: groupID, at: time, &step)
    }

    /// Records that this account entered a group; only the first time counts.
    mutating func noteEntry(of groupID: GroupID, _ step: inout CoreStep) {
        self.cursors.noteEntry(of: groupID, &step)
    }

    /// Records that this account was removed from a group.
    mutating func noteRemoval(from groupID: GroupID, _ step: inout CoreStep) {
        self.cursors.noteRemoval(from: groupID, &step)
    }

    // MARK: Held live events

    var heldCount: Int { self.held.count }
    var heldBytes: Int { self.held.bytes }

    /// Whether an unprocessed event must be held because older events of the same relay or group are being read.
    ///
    /// - Parameter claimants: the groups that claim a routing id.
    func mustHold(_ event: Event, from relay: RelayURL?, claimants: (Bytes32) -> [GroupID]) -> Bool {
        guard event.kind == .groupEvent else { return false }
        if let relay, self.relays.contains(relay) { return true }
        guard !self.groups.isEmpty, let id = try? GroupEvents.nostrGroupID(of: event) else { return false }
        return claimants(id).contains { self.groups[$0] != nil }
    }

    /// Holds an event. Returns whether the held events exceed their budget.
    mutating func hold(_ event: Event, from relay: RelayURL?) -> Bool {
        self.held.append(event, from: relay)
        return self.held.isOverBudget
    }

    /// Removes and returns the events that no known key opens: junk is parked elsewhere, within its own budget. Only a
    /// surplus of genuine events releases all of them early, out of order.
    mutating func releaseSurplus(_ isGenuine: (Event) -> Bool) -> [Event] {
        var events = self.held.releaseJunk(isGenuine)
        if self.held.isNearlyFull { events += self.held.releaseAll() }
        return events
    }

    /// Removes and returns the held events that need not wait any longer.
    mutating func releaseHeld(isSeen: (EventID) -> Bool, claimants: (Bytes32) -> [GroupID]) -> [Event] {
        guard !self.held.isEmpty else { return [] }
        var held = self.held
        self.held = HeldLiveEvents()
        let events = held.release { event, relay in
            isSeen(event.id) || !self.mustHold(event, from: relay, claimants: claimants)
        }
        self.held = held
        return events
    }
}
