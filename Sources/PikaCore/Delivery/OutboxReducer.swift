import MLS
import Nostr

/// Publishing events through the outbox.
extension CoreModel {
    /// Stores an event, which is published as soon as it is durable.
    mutating func enqueue(
        id: String, _ event: Event, to relays: [RelayURL], _ purpose: OutboxRow.Purpose, groupID: GroupID? = nil,
        messageID: EventID? = nil, _ step: inout CoreStep
    ) {
        let isNew = self.delivery.append(
            id: id, event, to: relays, purpose, groupID: groupID, messageID: messageID, &step)
        if isNew { self.flushOutbox(&step) }
    }

    mutating func flushOutbox(_ step: inout CoreStep) {
        self.dropStaleSignals(&step)
        let away = Set(self.state.relays.filter { $0.connection != .connected }.map(\.url))
        self.delivery.publish(except: self.heldRows, away: away, &step)
        self.countOutbox()
    }

    mutating func countOutbox() {
        let count = self.delivery.queue.count
        if self.state.outbox.pending != count { self.state.outbox.pending = count }
    }

    mutating func receivePublishReport(_ report: PublishReport, row id: String, _ step: inout CoreStep) {
        let row = self.delivery.queue.row(id)
        if let row, row.isAnnouncement { self.state.keyPackage.note(report, of: row.event) }
        switch self.delivery.receive(report, row: id, &step) {
        case .none:
            if let row { self.noteAnswer(report, of: row, &step) }
            return
        case .settled(let row): self.applyAcceptance(of: row, by: report.relay, &step)
        case .background: if let row { self.noteAnswer(report, of: row, &step) }
        }
        self.flushOutbox(&step)
    }

    /// Settles a message of this account that came back: a relay has it, even if its answer was lost.
    mutating func settleMessage(_ event: EventID, _ step: inout CoreStep) {
        guard let row = self.delivery.unsettledMessage(event) else { return }
        self.settleOutbox(row.id, &step)
        self.applyAcceptance(of: row, by: nil, &step)
    }

    /// Settles a row that some relay has. The caller applies its effects.
    mutating func settleOutbox(_ id: String, _ step: inout CoreStep) {
        if self.delivery.settle(id, &step) { self.countOutbox() }
    }

    /// Applies the effects that hold as soon as one relay has an event.
    private mutating func applyAcceptance(of row: OutboxRow, by relay: RelayURL?, _ step: inout CoreStep) {
        switch row.purpose {
        case .commit:
            if let groupID = row.groupID {
                self.confirmCommit(row.event.id, of: groupID, &step)
                self.retryWaiting(of: groupID, &step)
            }
        case .message:
            // Its echo, now or among stored events, changes nothing.
            self.remember(row.event.id, &step)
            self.noteSent(row, by: relay, &step)
            self.scheduleNotification(of: row, &step)
        case .callSignal: self.concludeSignal(row, failure: nil, &step)
        case .keyPackage:
            self.state.hasPublishedKeyPackage = true
            self.keyPackages.noteStored(row.event, &step)
            self.withdrawSuperseded(by: row.event, &step)
        case .relayList: self.keyPackages.confirmRelayList(row.event, &step)
        case .welcome: self.endWelcome(row.id, refused: nil, &step)
        case .proposal: if let groupID = row.groupID { self.confirmProposal(row.event.id, of: groupID, &step) }
        case .typing, .deletion, .instance, .profile, .followList, .notification, .offer: break
        }
    }

    mutating func endAttempt(row id: String, relays: [RelayURL], _ step: inout CoreStep) {
        if let row = self.delivery.queue.row(id), row.isAnnouncement {
            self.state.keyPackage.noteSilence(of: relays, about: row.event)
        }
        switch self.delivery.endAttempt(row: id, relays: relays, &step) {
        case .none: break
        case .unanswered: self.noteUnanswered(id)
        case .refused(let row, let reason):
            self.applyRefusal(of: row, reason, &step)
            self.flushOutbox(&step)
        }
    }

    /// Applies the effects of a refusal by every relay.
    private mutating func applyRefusal(of row: OutboxRow, _ reason: String, _ step: inout CoreStep) {
        switch row.purpose {
        case .commit: self.dropRefusedCommit(row, reason: reason, &step)
        case .callSignal: self.concludeSignal(row, failure: reason, &step)
        case .message:
            self.noteFailed(row, reason, &step)
            self.inbox.removeOutcome(ofMessage: row.messageID, &step)
        case .keyPackage: self.replaceRefusedKeyPackage(row.event, &step)
        case .welcome:
            self.state.toast = "an invitation could not be delivered: every relay refused it (\(reason))"
            step.observeUndelivered("invitation", reason, row.event.id)
            self.endWelcome(row.id, refused: reason, &step)
        case .proposal: self.dropRefusedProposal(row.event.id, reason: reason, &step)
        // The action that wrote it was done when it was signed.
        case .profile:
            self.state.toast = "every relay refused this account's profile: \(reason)"
            step.observeUndelivered("profile", reason, row.event.id)
        case .followList:
            self.state.toast = "every relay refused this account's follow list: \(reason)"
            step.observeUndelivered("follow list", reason, row.event.id)
        case .typing, .relayList, .deletion, .instance, .notification, .offer: break
        }
    }

    /// Removes a row from the outbox, regardless of which relays have it.
    mutating func dropRow(_ id: String, _ step: inout CoreStep) {
        if self.delivery.remove(id, &step) { self.countOutbox() }
    }
}
