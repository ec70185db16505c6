import MLS
import Marmot
import Nostr

/// Commits of one's own: made, published, merged when a relay has them, dropped when none takes them.
extension CoreModel {
    /// Makes a commit and publishes it; it is merged when a relay has it.
    mutating func commit(
        _ change: GroupChange, inChat chatID: String, _ request: RequestID?, _ step: inout CoreStep
    ) throws {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireIdle(groupID)
        guard
            let own = try self.groups[groupID]?.commit(
                change, client: self.configuration.client, now: step.now, using: &step.random),
            let stored = self.groups[groupID]?.storedPending(), let relays = self.groups[groupID]?.data.relays
        else { throw AppCoreError(.unknownChat, "no chat has the id \(chatID)") }
        self.dirtyGroups.insert(groupID)
        // Relays may take the commit just before a crash, so it is stored before it is published.
        let key = StoredGroupKey(groupID, isPending: true).bytes
        step.changes.append(.putGroupHeader(groupID: key, header: stored.header))
        step.changes.append(.updateGroup(groupID: key, stored.mls))
        _ = self.begin(.commit(groupID: groupID, event: own.event.id), request)
        self.enqueue(
            id: Self.commitRow(own.event.id), own.event, to: relays.isEmpty ? self.configuration.relays : relays,
            .commit,
            groupID: groupID, &step)
    }

    static func commitRow(_ event: EventID) -> String { "commit/\(event.hex)" }

    /// A relay has the pending commit: merge it, and send the invitations now, not before.
    mutating func confirmCommit(_ event: EventID, of groupID: [UInt8], _ step: inout CoreStep) {
        guard self.groups[groupID]?.pending?.event.id == event else { return }
        do {
            guard let (report, welcomes) = try self.groups[groupID]?.mergePending(), let group = self.groups[groupID]
            else { return }
            self.seen.insert(event)
            self.markSeen(event, &step)
            self.take(report, of: groupID, &step)
            try self.send(welcomes, of: group, &step)
            self.endCommit(event, of: groupID, .done(chatID: group.data.nostrGroupIDHex), &step)
        } catch {
            self.groups[groupID]?.clearPending()
            self.endCommit(event, of: groupID, .failed(AppCoreError(.notAllowed, "\(error)")), &step)
        }
    }

    /// No relay took the pending commit: it never happened.
    mutating func dropRefusedCommit(_ row: OutboxRow, reason: String, _ step: inout CoreStep) {
        guard let groupID = row.groupID, self.groups[groupID]?.pending?.event.id == row.event.id else { return }
        self.groups[groupID]?.clearPending()
        let failure = AppCoreError(.refused, "every relay refused the change: \(reason)")
        self.state.toast = failure.message
        self.endCommit(row.event.id, of: groupID, .failed(failure), &step)
        self.retryWaiting(of: groupID, &step)
    }

    /// Another member's commit took the place of the pending one.
    mutating func dropOwnCommit(of groupID: [UInt8], _ step: inout CoreStep) {
        for (_, operation) in self.operations {
            guard case .commit(groupID, let event) = operation.goal else { continue }
            self.endCommit(
                event, of: groupID,
                .failed(AppCoreError(.displaced, "another member changed the group at the same time; try again")), &step
            )
        }
    }

    private mutating func endCommit(
        _ event: EventID, of groupID: [UInt8], _ outcome: ActionOutcome, _ step: inout CoreStep
    ) {
        let row = Self.commitRow(event)
        if self.queue.remove(row) != nil { step.changes.append(.deleteOutbox(id: row)) }
        step.changes.append(.deleteGroup(groupID: StoredGroupKey(groupID, isPending: true).bytes))
        self.state.outbox.pending = self.queue.count
        for (number, operation) in self.operations {
            guard case .commit(groupID, event) = operation.goal else { continue }
            _ = self.end(number)
            self.finish(operation.request, outcome, &step)
        }
    }
}
