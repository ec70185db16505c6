import Foundation
import Nostr

/// Permits one live copy per account: of two that share a relay, the one with the earlier restore stops
/// (``CopyNotice``).
extension CoreModel {
    var noticeFilter: Filter {
        Filter(
            authors: [self.account.publicKey], kinds: [.applicationData], tags: ["d": [CopyNotice.identifier]])
    }

    mutating func startFence(_ step: inout CoreStep) {
        for row in self.queue.rows(where: { $0.purpose == .instance }) { self.dropRow(row.id, &step) }
        guard self.configuration.detectsCopies else { return }
        self.copies.fence.startedAt = step.nowMilliseconds
        self.copies.rollback.start(self.groups.all)
        self.subscribeToNotices(&step)
    }

    func subscribeToNotices(_ step: inout CoreStep) {
        step.effects.append(
            .subscribe(
                RelaySubscription(
                    id: "instance", filters: [self.noticeFilter], relays: self.configuration.relays, overlap: 0)))
    }

    /// Processes a relay's notices of other copies: this copy stops if one is later, and otherwise announces itself
    /// there.
    mutating func takeNotices(_ events: [Event], from relay: RelayURL, _ step: inout CoreStep) {
        guard self.configuration.detectsCopies else { return }
        let notices = events.filter { $0.kind == .applicationData && !self.copies.fence.own.contains($0.id) }
        self.copies.fence.unread[relay, default: []].formUnion(notices.map(\.id))
        for event in notices { self.use(.readNotice(event, at: relay), &step) }
        self.tellIfRead(relay, &step)
    }

    /// Records that a notice was read, or was invalid.
    mutating func endNotice(_ event: Event, at relay: RelayURL?, _ step: inout CoreStep) {
        guard let relay else { return }
        self.copies.fence.unread[relay]?.remove(event.id)
        if case .remote = self.account { self.tellIfRead(relay, &step) }
    }

    /// Remembers an own notice, so that it is recognized at the next start without the signer. Each relay has one.
    mutating func remember(ownNotice id: EventID, _ step: inout CoreStep) {
        if self.copies.fence.own.count > self.configuration.relays.count + 8 { self.copies.fence.own = [] }
        self.copies.fence.own.insert(id)
        guard case .remote = self.account else { return }
        step.changes.append(.putMemo(MemoName(.copyNotice, []), CopyFence.memo(self.copies.fence.own.sorted())))
    }

    private mutating func tellIfRead(_ relay: RelayURL, _ step: inout CoreStep) {
        guard self.copies.fence.unread[relay]?.isEmpty == true, self.failure == nil,
            self.configuration.relays.contains(relay), !self.copies.fence.told.contains(relay)
        else { return }
        self.tell([relay], &step)
        self.flushOutbox(&step)
    }

    /// Processes a notice that arrived live.
    mutating func takeNotice(_ event: Event, _ step: inout CoreStep) {
        guard self.copies.fence.startedAt != nil, !self.copies.fence.own.contains(event.id) else { return }
        self.use(.readNotice(event, at: nil), &step)
    }

    /// Stops this copy if a notice is from a later one; announces this copy again if the other is earlier.
    mutating func heed(_ notice: CopyNotice, _ event: Event, isLive: Bool, _ step: inout CoreStep) {
        guard let startedAt = self.copies.fence.startedAt else { return }
        self.copies.fence.newest = max(self.copies.fence.newest, min(event.createdAt, step.now + 3600))
        if notice.instance == self.instance.id {
            // A directory that was copied by hand: the copy that started last continues. Notices of an earlier run of
            // this same copy, which relays have stored, do not count.
            if isLive, !self.copies.fence.told.isEmpty, notice.startedAt > startedAt { self.yield(to: notice) }
        } else if self.isLater(notice) {
            self.yield(to: notice)
        } else if isLive, !self.copies.fence.told.isEmpty {
            // An earlier copy has overwritten this copy's notice.
            self.tell(self.copies.fence.told.sorted(), &step)
        }
    }

    /// Publishes a new notice to the relays that know this copy, after its state became another copy.
    mutating func tellAgain(_ step: inout CoreStep) {
        if !self.copies.fence.told.isEmpty { self.tell(self.copies.fence.told.sorted(), &step) }
    }

    private func isLater(_ notice: CopyNotice) -> Bool {
        guard notice.generation == self.instance.generation else {
            return notice.generation > self.instance.generation
        }
        return self.instance.id.lexicographicallyPrecedes(notice.instance)
    }

    private mutating func yield(to notice: CopyNotice) {
        let time = Date(timeIntervalSince1970: Double(notice.startedAt) / 1000).formatted(.iso8601)
        self.failure = AppCoreError(
            .superseded,
            "another copy of this account was started at \(time); stop one of them. To go on with this one, back it up, "
                + "restore the backup into a new directory, and start that")
    }

    private mutating func tell(_ relays: [RelayURL], _ step: inout CoreStep) {
        guard self.copies.fence.startedAt != nil else { return }
        self.copies.fence.newest = max(step.now, self.copies.fence.newest + 1)
        self.copies.fence.told.formUnion(relays)
        self.use(.tell(relays, at: self.copies.fence.newest), &step)
    }
}
