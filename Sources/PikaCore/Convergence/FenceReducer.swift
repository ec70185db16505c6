import Foundation
import Nostr

/// Exchanges notices with other copies of this account (``CopyFence``).
extension CoreModel {
    var noticeFilter: Filter {
        Filter(
            authors: [self.account.publicKey], kinds: [.applicationData], tags: ["d": [CopyNotice.identifier]])
    }

    mutating func startFence(_ step: inout CoreStep) {
        for row in self.delivery.queue.rows(where: { $0.purpose == .instance }) { self.dropRow(row.id, &step) }
        guard self.configuration.detectsCopies else { return }
        self.convergence.searchCopies(self.groups, nowMilliseconds: step.nowMilliseconds)
        self.subscribeToNotices(&step)
    }

    func subscribeToNotices(_ step: inout CoreStep) {
        step.effects.append(
            .subscribe(
                RelaySubscription(
                    id: "instance", filters: [self.noticeFilter], relays: self.configuration.relays, overlap: 0)))
    }

    /// Decrypts a relay's notices of other copies: this copy stops if one is later, and otherwise announces itself
    /// there.
    mutating func receiveNotices(_ events: [Event], from relay: RelayURL, _ step: inout CoreStep) {
        guard self.configuration.detectsCopies else { return }
        for event in self.convergence.receiveNotices(events, from: relay) {
            self.performKeyTask(.readNotice(event, at: relay), &step)
        }
        self.announceIfRead(relay, &step)
    }

    /// Records that a notice was read, or was invalid.
    mutating func endNotice(_ event: Event, at relay: RelayURL?, _ step: inout CoreStep) {
        guard let relay else { return }
        self.convergence.endNotice(event.id, at: relay)
        if case .remote = self.account { self.announceIfRead(relay, &step) }
    }

    /// Remembers a notice of this copy, so that it is recognized at the next start without the signer.
    mutating func remember(ownNotice id: EventID, _ step: inout CoreStep) {
        let memo = self.convergence.rememberOwnNotice(id, relayCount: self.configuration.relays.count)
        guard case .remote = self.account else { return }
        step.changes.append(.putMemo(MemoName(.copyNotice, []), memo))
    }

    private mutating func announceIfRead(_ relay: RelayURL, _ step: inout CoreStep) {
        guard self.failure == nil, self.configuration.relays.contains(relay),
            self.convergence.fence.isDue(at: relay)
        else { return }
        self.announceCopy(to: [relay], &step)
        self.flushOutbox(&step)
    }

    /// Decrypts a notice that arrived live.
    mutating func receiveNotice(_ event: Event, _ step: inout CoreStep) {
        guard self.convergence.fence.admits(event.id) else { return }
        self.performKeyTask(.readNotice(event, at: nil), &step)
    }

    /// Processes a decrypted notice.
    mutating func receive(_ notice: CopyNotice, _ event: Event, isLive: Bool, _ step: inout CoreStep) {
        let verdict = self.convergence.verdict(
            on: notice, createdAt: event.createdAt, isLive: isLive, now: step.now)
        switch verdict {
        case .ignore: break
        case .announce(let relays): self.announceCopy(to: relays, &step)
        case .yield: self.convergence.stop(for: notice)
        }
    }

    /// Publishes a new notice to the relays that know this copy, after its state became another copy.
    mutating func announceCopyAgain(_ step: inout CoreStep) {
        let relays = self.convergence.fence.announcedRelays
        if !relays.isEmpty { self.announceCopy(to: relays, &step) }
    }

    private mutating func announceCopy(to relays: [RelayURL], _ step: inout CoreStep) {
        guard let time = self.convergence.announce(to: relays, now: step.now) else { return }
        self.performKeyTask(.publishNotice(relays, at: time), &step)
    }
}

extension AppCoreError {
    static func superseded(by notice: CopyNotice) -> AppCoreError {
        let time = Date(timeIntervalSince1970: Double(notice.startedAt) / 1000).formatted(.iso8601)
        return AppCoreError(
            .superseded,
            "another copy of this account was started at \(time); stop one of them. To continue with this one, back it "
                + "up, restore the backup into a new directory, and start that")
    }
}
