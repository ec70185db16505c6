import Foundation
import Nostr

/// One account, one live copy: of two that share a relay the one with the earlier restore ends (``CopyNotice``).
extension CoreModel {
    var noticeFilter: Filter {
        Filter(
            authors: [self.account.publicKey], kinds: [.applicationData], tags: ["d": [CopyNotice.identifier]])
    }

    mutating func startFence(_ step: inout CoreStep) {
        for row in self.queue.rows(where: { $0.purpose == .instance }) { self.dropRow(row.id, &step) }
        guard self.configuration.detectsCopies else { return }
        self.fence.startedAt = step.nowMilliseconds
        self.subscribeToNotices(&step)
    }

    func subscribeToNotices(_ step: inout CoreStep) {
        step.effects.append(
            .subscribe(
                RelaySubscription(
                    id: "instance", filters: [self.noticeFilter], relays: self.configuration.relays, overlap: 0)))
    }

    /// A relay was asked for other copies: ends if it knows a later one, and otherwise tells it of this one.
    mutating func takeNotices(_ events: [Event], from relay: RelayURL, _ step: inout CoreStep) {
        guard self.configuration.detectsCopies else { return }
        for event in events where event.kind == .applicationData { self.takeNotice(event, isLive: false, &step) }
        if self.failure == nil, self.configuration.relays.contains(relay), !self.fence.told.contains(relay) {
            self.tell([relay], &step)
        }
    }

    mutating func takeNotice(_ event: Event, isLive: Bool, _ step: inout CoreStep) {
        guard let startedAt = self.fence.startedAt else { return }
        guard let notice = CopyNotice(event, of: self.account) else {
            step.effects.append(.note(.refused(reason: "bad_notice", detail: "an event about copies of this account")))
            return
        }
        self.fence.newest = max(self.fence.newest, min(event.createdAt, step.now + 3600))
        if notice.instance == self.instance.id {
            // A directory that was copied by hand: whoever started last goes on. What relays kept of an earlier run
            // of this very copy is none of that.
            if isLive, !self.fence.told.isEmpty, notice.startedAt > startedAt { self.yield(to: notice) }
        } else if self.isLater(notice) {
            self.yield(to: notice)
        } else if isLive, !self.fence.told.isEmpty {
            // An earlier copy has overwritten what this one said.
            self.tell(self.fence.told.sorted(), &step)
        }
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
        guard let startedAt = self.fence.startedAt else { return }
        self.fence.newest = max(step.now, self.fence.newest + 1)
        do {
            let event = try CopyNotice(self.instance, startedAt: startedAt).event(
                by: self.account, createdAt: self.fence.newest, using: &step.random)
            self.fence.told.formUnion(relays)
            self.enqueue(id: "instance/\(event.id.hex)", event, to: relays, .instance, &step)
        } catch {
            step.effects.append(.note(.sendFailed(reason: "notice of this copy: \(error)")))
        }
    }
}
