import Nostr

/// Events on their way to relays.
extension CoreModel {
    /// Stores an event and lets it leave as soon as it is durable.
    mutating func enqueue(
        id: String, _ event: Event, to relays: [RelayURL], _ purpose: OutboxRow.Purpose, groupID: [UInt8]? = nil,
        messageID: EventID? = nil, _ step: inout CoreStep
    ) {
        self.lastSequence += 1
        let row = OutboxRow(
            id: id, sequence: self.lastSequence, event: event, relays: relays, purpose: purpose, groupID: groupID,
            messageID: messageID)
        guard self.queue.add(row) else { return }
        step.changes.append(.putOutbox(row))
        self.flushOutbox(&step)
    }

    mutating func flushOutbox(_ step: inout CoreStep) {
        for row in self.queue.start(nowMilliseconds: step.nowMilliseconds, except: self.heldCommits) {
            step.effects.append(.publish(row: row.id, row.event, row.relays))
        }
        self.state.outbox.pending = self.queue.count
    }

    mutating func takeReport(_ report: PublishReport, row id: String, _ step: inout CoreStep) {
        guard let row = self.queue.report(id, report.outcome) else { return }
        step.changes.append(.deleteOutbox(id: id))
        switch row.purpose {
        case .commit:
            if let groupID = row.groupID {
                self.confirmCommit(row.event.id, of: groupID, &step); self.retryWaiting(of: groupID, &step)
            }
        case .message: if let messageID = row.messageID { self.setDelivery(.sent, of: messageID) }
        case .keyPackage: self.state.hasPublishedKeyPackage = true
        case .proposal: if let groupID = row.groupID { self.confirmProposal(row.event.id, of: groupID, &step) }
        case .welcome, .relayList, .deletion: break
        }
        self.flushOutbox(&step)
    }

    mutating func endAttempt(row id: String, _ step: inout CoreStep) {
        switch self.queue.end(id, nowMilliseconds: step.nowMilliseconds) {
        case .none: break
        case .retry(let time):
            self.noteUnanswered(id)
            step.changes.append(.countOutboxAttempt(id: id))
            step.effects.append(.wake(.outbox, atMilliseconds: time))
        case .refused(let reason):
            guard let row = self.queue.remove(id) else { return }
            step.changes.append(.deleteOutbox(id: id))
            step.effects.append(.note(.sendFailed(reason: "\(row.purpose.rawValue): \(reason)")))
            if row.purpose == .proposal { self.dropRefusedProposal(row.event.id, reason: reason, &step) }
            if row.purpose == .commit { self.dropRefusedCommit(row, reason: reason, &step) }
            if let messageID = row.messageID { self.setDelivery(.failed(reason), of: messageID) }
            self.flushOutbox(&step)
        }
    }
}
