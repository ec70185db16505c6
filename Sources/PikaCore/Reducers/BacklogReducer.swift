import MLS
import Marmot
import Nostr

/// Reading a group's stored events from relays, and keeping live events in order with them.
///
/// A ratchet skips a limited number of messages (RFC 9420 §9.1): processing a live event before hundreds of older ones
/// would make those unreadable. Live events are therefore held while older ones are being read.
extension CoreModel {

    // MARK: Due backlogs

    /// Returns the name of the cursor that records, across restarts, whether a group's events on a relay are still to
    /// be read: an odd value means yes.
    private static func backlogCursor(_ groupID: GroupID, _ relay: RelayURL) -> String {
        "backlog/\(groupID.hex)/\(relay.string)"
    }

    private func isBacklogDue(_ groupID: GroupID, _ relay: RelayURL) -> Bool {
        (self.cursors[Self.backlogCursor(groupID, relay)] ?? 0) % 2 == 1
    }

    private mutating func noteBacklog(_ groupID: GroupID, _ relay: RelayURL, isDue: Bool, _ step: inout CoreStep) {
        guard self.isBacklogDue(groupID, relay) != isDue else { return }
        let name = Self.backlogCursor(groupID, relay)
        let value = (self.cursors[name] ?? 0) + 1
        self.cursors[name] = value
        step.changes.append(.advanceCursor(name: name, to: value))
    }

    func relays(of group: MarmotGroup) -> [RelayURL] {
        let relays = RelaySelection.relays(ofGroup: group.data.relays, own: self.configuration.relays)
        return relays.isEmpty ? self.configuration.relays : relays
    }

    /// Returns the name of the cursor that holds the time of the invitation to a group. Older events cannot be opened.
    static func joinedCursor(_ groupID: GroupID) -> String { "joined/\(groupID.hex)" }

    // MARK: Reading a group

    /// Reads all of a group's events from its relays: after it was joined, or after its routing id changed.
    ///
    /// - Parameter since: the earliest time to request, in Unix seconds; by default that of this account's invitation.
    mutating func readBacklog(of groupID: GroupID, since: Int64? = nil, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        for relay in self.relays(of: group) {
            self.noteBacklog(groupID, relay, isDue: true, &step)
            self.fetchBacklog(of: group, from: relay, since: since, &step)
        }
    }

    /// Reads groups again that have unopened waiting events: these may depend on a commit that was published while this
    /// account was away, dated so early that catching up did not request it.
    mutating func readUnopenedBacklogs(_ step: inout CoreStep) {
        for group in self.groups.values.sorted(by: { $0.groupID < $1.groupID }) where group.isActive {
            guard self.waiting.hasUnopened(under: self.routes.ids(of: group.groupID)) else { continue }
            self.readBacklog(of: group.groupID, since: step.now.clampedSubtracting(Self.maximumAge), &step)
        }
    }

    /// Retries the due relays that are connected; the others are read when they reconnect.
    mutating func retryBacklog(of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], group.isActive else {
            self.readPatience.forget(groupID)
            return
        }
        for relay in self.relays(of: group) where self.isBacklogDue(groupID, relay) {
            let isConnected = self.state.relays.contains { $0.url == relay && $0.connection == .connected }
            if isConnected { self.fetchBacklog(of: group, from: relay, &step) }
        }
    }

    /// Reads the due groups of a relay that has reconnected.
    mutating func readDueBacklogs(from relay: RelayURL, _ step: inout CoreStep) {
        for group in self.groups.values where group.isActive && self.isBacklogDue(group.groupID, relay) {
            self.readPatience.renew(.group(group.groupID, relay))
            self.fetchBacklog(of: group, from: relay, &step)
        }
    }

    private mutating func fetchBacklog(
        of group: MarmotGroup, from relay: RelayURL, since: Int64? = nil, _ step: inout CoreStep
    ) {
        if !self.readPatience.isExhausted(.group(group.groupID, relay)) {
            self.reading[group.groupID, default: 0] += 1
        }
        self.countReading()
        let ids = [group.data.nostrGroupID] + group.formerNostrGroupIDs
        let invitedAt = self.cursors[Self.joinedCursor(group.groupID)].map { max(0, $0 - Self.groupOverlap) }
        step.effects.append(
            .fetch(
                .backlog(groupID: group.groupID),
                [Filter(kinds: [.groupEvent], since: since ?? invitedAt, tags: ["h": ids.map(\.hex)])], from: [relay]))
    }

    /// Records which relays answered; live events of the group wait for one relay only.
    mutating func endBacklog(
        of groupID: GroupID, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        var isRead = false
        var wasHolding = false
        var delay = ReadPatience.firstDelay
        for (relay, outcome) in outcomes {
            let reading = ReadPatience.Reading.group(groupID, relay)
            wasHolding = wasHolding || !self.readPatience.isExhausted(reading)
            guard case .events = outcome else {
                delay = self.readPatience.fail(reading)
                continue
            }
            isRead = true
            self.readPatience.succeed(reading)
            self.noteBacklog(groupID, relay, isDue: false, &step)
        }
        let underWay = (self.reading[groupID] ?? 0) - (wasHolding ? 1 : 0)
        self.reading[groupID] = isRead || underWay <= 0 ? nil : underWay
        self.countReading()
        if !isRead {
            step.effects.append(.wake(.backlog(groupID: groupID), atMilliseconds: step.nowMilliseconds + delay))
        }
    }

    private mutating func countReading() {
        let chats = Set(self.reading.keys.filter { self.groups[$0] != nil }.map(\.hex))
        if self.state.readingChats != chats { self.state.readingChats = chats }
    }

    // MARK: Holding live events back

    /// Whether an event must be held because older events of the same relay or group are being read.
    func mustHold(_ event: Event, from relay: RelayURL?) -> Bool {
        guard event.kind == .groupEvent, !self.seen.contains(event.id) else { return false }
        if let relay, self.catchingUp.contains(relay) { return true }
        guard !self.reading.isEmpty, let id = try? GroupEvents.nostrGroupID(of: event) else { return false }
        return self.routes.groups(claiming: id).contains { self.reading[$0] != nil }
    }

    mutating func hold(_ event: Event, from relay: RelayURL?, _ step: inout CoreStep) {
        self.held.append(event, from: relay)
        guard self.held.isOverBudget else { return }
        // Junk is parked elsewhere, within its own budget. Only a surplus of genuine events breaks the order early.
        var rings: [GroupID: OuterKeyRing] = [:]
        let groups = self.groups
        let routes = self.routes
        var events = self.held.releaseJunk { event in
            guard let id = try? GroupEvents.nostrGroupID(of: event) else { return false }
            return routes.candidates(for: id) { groups[$0]?.isActive == true }.contains { groupID in
                guard let ring = rings[groupID] ?? groups[groupID]?.outerKeyRing else { return false }
                rings[groupID] = ring
                return ring.opens(event, with: ring.marks)
            }
        }
        if self.held.isCrowded { events += self.held.releaseAll() }
        for second in Self.seconds(of: events.sorted(by: { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) })) {
            for event in self.inSendingOrder(second) { self.take(event, &step) }
        }
    }

    /// Removes and returns the held events that need not wait any longer.
    mutating func releaseHeld() -> [Event] {
        guard !self.held.isEmpty else { return [] }
        var held = self.held
        self.held = HeldLiveEvents()
        let events = held.release { event, relay in !self.mustHold(event, from: relay) }
        self.held = held
        return events
    }
}
