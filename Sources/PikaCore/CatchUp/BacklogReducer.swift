import MLS
import Marmot
import Nostr

/// Reads groups' stored events from relays, and holds live events until then (``CatchUp``).
extension CoreModel {
    func relays(of group: AccountGroup) -> [RelayURL] {
        let relays = RelaySelection.relays(ofGroup: group.data.relays, own: self.configuration.relays)
        return relays.isEmpty ? self.configuration.relays : relays
    }

    // MARK: Reading a group

    /// Reads all of a group's events from its relays: after it was joined, or after its routing id changed.
    ///
    /// - Parameter since: the earliest time to request; by default that of this account's invitation.
    mutating func readBacklog(of groupID: GroupID, since: UnixTime? = nil, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        for relay in self.relays(of: group) {
            self.catchUp.noteBacklog(of: groupID, at: relay, isDue: true, &step)
            self.fetchBacklog(of: group, from: relay, since: since, &step)
        }
    }

    /// Reads groups again that have unopened waiting events: these may depend on a commit that was published while this
    /// account was away, dated so early that catching up did not request it.
    mutating func readUnopenedBacklogs(_ step: inout CoreStep) {
        for group in self.groups.values.sorted(by: { $0.groupID < $1.groupID }) where group.isActive {
            guard self.inbound.waiting.hasUnopened(under: self.groups.routes.ids(of: group.groupID)) else { continue }
            self.readBacklog(of: group.groupID, since: step.now - Self.maximumAge, &step)
        }
    }

    /// Retries the due relays that are connected; the others are read when they reconnect.
    mutating func retryBacklog(of groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], group.isActive else {
            self.catchUp.forgetFailures(of: groupID)
            return
        }
        for relay in self.relays(of: group) where self.catchUp.cursors.isBacklogDue(groupID, relay) {
            let isConnected = self.state.relays.contains { $0.url == relay && $0.connection == .connected }
            if isConnected { self.fetchBacklog(of: group, from: relay, &step) }
        }
    }

    /// Reads the due groups of a relay that has reconnected.
    mutating func readDueBacklogs(from relay: RelayURL, _ step: inout CoreStep) {
        for group in self.groups.values
        where group.isActive && self.catchUp.cursors.isBacklogDue(group.groupID, relay) {
            self.catchUp.renew(group.groupID, from: relay)
            self.fetchBacklog(of: group, from: relay, &step)
        }
    }

    private mutating func fetchBacklog(
        of group: AccountGroup, from relay: RelayURL, since: UnixTime? = nil, _ step: inout CoreStep
    ) {
        self.catchUp.beginRead(of: group.groupID, from: relay)
        self.countReading()
        let ids = [group.data.nostrGroupID] + group.formerNostrGroupIDs
        let invitedAt = self.catchUp.cursors.invitedAt(group.groupID).map { max(0, $0 - Self.groupOverlap) }
        step.effects.append(
            .fetch(
                .backlog(groupID: group.groupID),
                [Filter(kinds: [.groupEvent], since: since ?? invitedAt, tags: ["h": ids.map(\.hex)])], from: [relay]))
    }

    /// Records which relays answered; live events of the group wait for one relay only.
    mutating func endBacklog(
        of groupID: GroupID, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        let (answered, retryDelay) = self.catchUp.endRead(of: groupID, outcomes)
        for relay in answered { self.catchUp.noteBacklog(of: groupID, at: relay, isDue: false, &step) }
        self.countReading()
        if let retryDelay {
            step.effects.append(.wake(.backlog(groupID: groupID), atMilliseconds: step.nowMilliseconds + retryDelay))
        }
    }

    private mutating func countReading() {
        let chats = Set(self.catchUp.readingGroups.filter { self.groups[$0] != nil }.map(ChatID.init(_:)))
        if self.state.readingChats != chats { self.state.readingChats = chats }
    }

    // MARK: Holding live events back

    /// Whether an event must be held because older events of the same relay or group are being read.
    func mustHold(_ event: Event, from relay: RelayURL?) -> Bool {
        !self.inbound.seen.contains(event.id)
            && self.catchUp.mustHold(event, from: relay, claimants: self.groups.routes.groups(claiming:))
    }

    mutating func hold(_ event: Event, from relay: RelayURL?, _ step: inout CoreStep) {
        guard self.catchUp.hold(event, from: relay) else { return }
        var rings: [GroupID: OuterKeyRing] = [:]
        let groups = self.groups
        let events = self.catchUp.releaseSurplus { event in
            groups.candidates(for: event).contains { groupID in
                guard let ring = rings[groupID] ?? groups[groupID]?.outerKeyRing else { return false }
                rings[groupID] = ring
                return ring.opens(event, with: ring.marks)
            }
        }
        for second in Self.seconds(of: events.sorted(by: { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) })) {
            for event in self.inSendingOrder(second) { self.receiveEvent(event, &step) }
        }
    }

    /// Removes and returns the held events that need not wait any longer.
    mutating func releaseHeld() -> [Event] {
        let (seen, routes) = (self.inbound.seen, self.groups.routes)
        return self.catchUp.releaseHeld(isSeen: seen.contains, claimants: routes.groups(claiming:))
    }
}
