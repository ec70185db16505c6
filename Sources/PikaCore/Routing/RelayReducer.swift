import Marmot
import Nostr

/// Connections, subscriptions and catching up.
extension CoreModel {
    /// Seconds to read again before a relay's newest event after a reconnect: senders' clocks differ, and events arrive
    /// late.
    static let groupOverlap: Int64 = 3600
    /// Gift wraps are back-dated by up to two days (NIP-59), and relays that were offline receive them up to a day
    /// late.
    static let giftWrapOverlap: Int64 = 345_600
    /// Events older than this are refused anyway (MIP-03).
    static let maximumAge: Int64 = 3_888_000

    /// The configured relays and those of all groups, up to the limits.
    var allRelays: [RelayURL] { self.relaySelection.relays }

    private var relaySelection: RelaySelection {
        RelaySelection(
            own: self.configuration.relays,
            ofGroups: self.groups.values.filter(self.isSubscribed).sorted { $0.groupID < $1.groupID }
                .map(\.readRelays))
    }

    /// Connects to the selected relays. Relays beyond the limits are ignored; every group keeps its first ones.
    mutating func connectToRelays(_ step: inout CoreStep) {
        let selection = self.relaySelection
        step.effects.append(.setRelays(selection.relays))
        self.catchUp.noteIgnoredRelays(selection.ignored, &step)
    }

    private var groupTags: [String] {
        self.groups.routes.ids { self.groups[$0].map(self.isSubscribed) == true }.map(\.hex)
    }

    private func isSubscribed(_ group: AccountGroup) -> Bool {
        group.isActive || self.convergence.isLingering(group.groupID)
    }

    // Live subscriptions request one stored event only: catching up reads stored events, in pages and in order.
    func subscribeToGiftWraps(_ step: inout CoreStep) {
        var filter = self.giftWrapFilter
        filter.limit = 1
        step.effects.append(
            .subscribe(RelaySubscription(id: "giftwraps", filters: [filter], overlap: Self.giftWrapOverlap)))
    }

    func subscribeToGroups(_ step: inout CoreStep) {
        guard var filter = self.groupFilter else {
            step.effects.append(.unsubscribe("groups"))
            return
        }
        filter.limit = 1
        step.effects.append(
            .subscribe(
                RelaySubscription(id: "groups", filters: [filter], overlap: Self.maximumAge, omitsEchoes: true)))
    }

    private var giftWrapFilter: Filter {
        Filter(kinds: [.giftWrap], tags: ["p": [self.account.publicKey.hex]])
    }

    private var groupFilter: Filter? {
        let tags = self.groupTags
        return tags.isEmpty ? nil : Filter(kinds: [.groupEvent], tags: ["h": tags])
    }

    /// Updates relays and tags after the set of groups changed.
    mutating func resubscribe(_ step: inout CoreStep) {
        let relays = self.allRelays
        self.state.relays.removeAll { !relays.contains($0.url) }
        self.connectToRelays(&step)
        self.subscribeToGroups(&step)
    }

    mutating func receiveUpdate(_ update: RelayUpdate, _ step: inout CoreStep) {
        switch update {
        case .event(let relay, _, let event):
            if self.mustHold(event, from: relay) {
                self.hold(event, from: relay, &step)
                return
            }
            self.receiveEvent(event, &step)
            self.advanceCursor(of: relay, to: event, &step)
        case .state(let relay, let connection): self.note(connection, of: relay, &step)
        case .refused(_, let reason):
            step.effects.append(.note(.refused(reason: reason, detail: "refused by the relay connection")))
        case .closed(_, let subscription, let message):
            step.effects.append(
                .note(
                    .refused(
                        reason: CountedReason.subscriptionClosed.rawValue, detail: "\(subscription): \(message)")))
        case .clock(let relay, let offset): self.noteClock(of: relay, offset: offset, &step)
        case .endOfStoredEvents: break
        }
    }

    /// Processes an event from a relay; repeats are dropped.
    mutating func receiveEvent(_ event: Event, _ step: inout CoreStep) {
        guard !self.inbound.seen.contains(event.id), !self.isQuarantined(event, &step) else { return }
        self.ingest(event, &step)
    }

    /// Ingests a new event, or one released from quarantine.
    mutating func ingest(_ event: Event, _ step: inout CoreStep) {
        let crashes = self.crashes
        let outer = crashes.enter(.event(event.id), of: self.crashScope(of: event), .ingest)
        defer { crashes.leave(outer) }
        switch event.kind {
        case .groupEvent: self.receiveGroupEvent(event, &step)
        case .giftWrap: self.receiveGiftWrap(event, &step)
        case .applicationData: self.receiveNotice(event, &step)
        default: step.refuse(.unexpectedKind, "kind \(event.kind.rawValue)", event.id)
        }
    }

    /// Records an event as seen that was authenticated and applied.
    mutating func remember(_ id: EventID, _ step: inout CoreStep) {
        self.inbound.noteSeen(id, &step)
    }

    /// Records an event that was refused, or that is not known to be genuine yet: strangers can send any number.
    mutating func rememberRefused(_ id: EventID, _ step: inout CoreStep) {
        self.inbound.noteRefused(id, &step)
    }

    private mutating func note(_ connection: RelayConnectionState, of relay: RelayURL, _ step: inout CoreStep) {
        let position = self.state.relays.firstIndex { $0.url == relay }
        if let position {
            self.state.relays[position].connection = connection
            if connection != .connected { self.state.relays[position].isCaughtUp = false }
        } else if self.allRelays.contains(relay) {
            self.state.relays.append(.init(url: relay, connection: connection, isCaughtUp: false))
        }
        guard connection == .connected else { return }
        self.catchUp.reconnect(relay, cursor: self.catchUp.cursors.position(in: relay))
        self.setGap(nil, at: relay)
        self.catchUp(relay, &step)
        self.readDueBacklogs(from: relay, &step)
        self.notePeople(&step)
        self.delivery.makeDue(relay)
        self.flushOutbox(&step)
    }

    /// Fetches all events since the relay was last read.
    mutating func catchUp(_ relay: RelayURL, _ step: inout CoreStep) {
        self.catchUp.beginRead(of: relay)
        let cursor = self.catchUp.cursors.position(in: relay)
        var giftWraps = self.giftWrapFilter
        giftWraps.since = cursor.map { max(0, $0 - Self.giftWrapOverlap) }
        var filters = [giftWraps]
        if var groups = self.groupFilter {
            groups.since = cursor.map { max(0, $0 - Self.groupOverlap) }
            filters.append(groups)
        }
        if self.configuration.detectsCopies { filters.append(self.noticeFilter) }
        step.effects.append(.fetch(.catchUp(relay), filters, from: [relay]))
    }

    mutating func receiveFetched(
        _ purpose: FetchPurpose, _ outcomes: [RelayURL: FetchOutcome], _ step: inout CoreStep
    ) {
        var events: [EventID: Event] = [:]
        for case .events(let found) in outcomes.values { for event in found { events[event.id] = event } }
        switch purpose {
        case .keyPackages(let search): self.receiveKeyPackages(ofSearch: search, outcomes, &step)
        case .profiles(let search): self.receiveProfiles(ofSearch: search, outcomes, &step)
        case .pushServer(let server): self.receivePushServer(server, outcomes, &step)
        case .own(let reading): self.receiveOwn(ofReading: reading, outcomes, &step)
        case .backlog(let groupID):
            self.endBacklog(of: groupID, outcomes, &step)
            self.processStored(Array(events.values) + self.releaseHeld(), &step)
            self.endReading(nil, &step)
        case .catchUp(let relay):
            guard case .events = outcomes[relay] else {
                let delay = self.catchUp.failRead(of: relay)
                self.noteFailedRead(of: relay, &step)
                self.processStored(self.releaseHeld(), &step)
                if !self.catchUp.relays.contains(relay) { self.endReading(relay, &step) }
                step.effects.append(.wake(.catchUp(relay), atMilliseconds: step.nowMilliseconds + delay))
                return
            }
            // Process notices before the groups count as read, so that no event of a past epoch is sent.
            self.receiveNotices(Array(events.values), from: relay, &step)
            if self.failure != nil { return }
            self.catchUp.endRead(of: relay)
            events = events.filter { $0.value.kind != .applicationData }
            self.noteRead(of: relay, events.values.map(\.id), &step)
            self.processStored(Array(events.values) + self.releaseHeld(), &step)
            guard let position = self.state.relays.firstIndex(where: { $0.url == relay }) else {
                self.endReading(relay, &step)
                return
            }
            self.state.relays[position].isCaughtUp = true
            let newest = events.values.map(\.createdAt).max() ?? 0
            self.catchUp.advanceCursor(of: relay, to: min(newest, step.now), &step)
            self.endReading(relay, &step)
        }
    }

    /// Processes stored events, oldest first, with invitations before their groups' messages.
    private mutating func processStored(_ events: [Event], _ step: inout CoreStep) {
        let ordered = events.sorted {
            ($0.kind == .giftWrap ? 0 : 1, $0.createdAt, $0.id) < ($1.kind == .giftWrap ? 0 : 1, $1.createdAt, $1.id)
        }
        for second in Self.seconds(of: ordered) {
            for event in self.inSendingOrder(second) {
                if self.mustHold(event, from: nil) {
                    self.hold(event, from: nil, &step)
                } else {
                    self.receiveEvent(event, &step)
                }
            }
        }
    }

    /// Advances the cursor of a relay that was read to the end to its newest event.
    private mutating func advanceCursor(of relay: RelayURL, to event: Event, _ step: inout CoreStep) {
        guard event.kind == .groupEvent, self.state.relays.contains(where: { $0.url == relay && $0.isCaughtUp }) else {
            return
        }
        self.catchUp.advanceCursor(of: relay, to: min(event.createdAt, step.now), &step)
    }
}
