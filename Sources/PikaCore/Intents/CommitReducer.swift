import MLS
import Marmot
import Nostr

/// Commits of this account: created, published, merged once a relay has them, abandoned if every relay refuses them.
extension CoreModel {
    /// Creates a commit for an intent and publishes it; it is merged once a relay has it.
    ///
    /// It is stored with the group before it is published, since relays may accept it just before a crash.
    mutating func commit(_ change: GroupChange, for intent: GroupIntent, _ step: inout CoreStep) throws {
        let groupID = intent.groupID
        let limits = self.sizeLimits
        guard
            let own = try self.groups[first: groupID]?.commit(
                change, client: self.configuration.client, limits: limits, now: step.now,
                using: &step.random),
            let relays = self.groups[groupID].map(self.relays(of:))
        else { return }
        self.groups.markChanged(groupID)
        // The unconfirmed commit was an earlier one, of an epoch that is over.
        self.convergence.endUnconfirmedCommit(of: groupID)
        var intent = intent
        intent.phase = .committing(own.event.id)
        self.put(intent, &step)
        self.enqueue(id: Self.commitRow(own.event.id), own.event, to: relays, .commit, groupID: groupID, &step)
    }

    var sizeLimits: SizeLimits { SizeLimits(relayEventBytes: self.configuration.maximumEventBytes) }

    static func commitRow(_ event: EventID) -> String { "commit/\(event.hex)" }

    /// Merges the pending commit once a relay has it, and only then sends its invitations.
    mutating func confirmCommit(_ event: EventID, of groupID: GroupID, _ step: inout CoreStep) {
        if self.groups[second: groupID] != nil { return self.confirmSettlingCommit(event, of: groupID, &step) }
        guard self.groups[first: groupID]?.pending?.event.id == event else { return }
        self.convergence.endUnconfirmedCommit(of: groupID)
        self.groups.markChanged(groupID)
        // The other relays still receive it.
        self.settleOutbox(Self.commitRow(event), &step)
        do {
            guard let (report, welcomes) = try self.groups[first: groupID]?.mergePending(),
                let group = self.groups[groupID]
            else { return }
            self.remember(event, &step)
            try self.send(welcomes, of: group, &step)
            self.settle(event, epoch: report.epochBefore, &step)
            self.applyCommit(report, of: groupID, &step)
        } catch {
            self.groups[first: groupID]?.clearPending()
            if let intent = self.intents.intent(of: event) { self.abandon(intent, error, &step) }
        }
    }

    /// Discards the pending commit, which every relay refused.
    mutating func dropRefusedCommit(_ row: OutboxRow, reason: String, _ step: inout CoreStep) {
        if let groupID = row.groupID, self.groups[second: groupID] != nil {
            return self.dropRefusedSettlingCommit(row, reason: reason, &step)
        }
        guard let groupID = row.groupID, self.groups[first: groupID]?.pending?.event.id == row.event.id else { return }
        self.groups[first: groupID]?.clearPending()
        self.convergence.endUnconfirmedCommit(of: groupID)
        self.groups.markChanged(groupID)
        self.intents.resume(groupID)
        if let intent = self.intents.intent(of: row.event.id) {
            self.abandon(intent, AppCoreError(.refused, "every relay refused the change: \(reason)"), &step)
        }
        self.retryWaiting(of: groupID, &step)
    }

    // MARK: Unanswered commits

    /// The pending commits and proposals that must not be sent now: relays are being read, or must be, since another
    /// commit may have displaced them while this account was away.
    var heldCommits: Set<String> {
        // Evaluated on every flush: without any of these nothing is held, however many groups there are.
        let unknown = self.convergence.unconfirmedCommits
        if unknown.isEmpty, self.catchUp.isIdle { return [] }
        var rows: Set<String> = []
        for (groupID, group) in self.groups {
            guard let pending = group.pendingEvent, unknown.contains(groupID) || self.isReading(groupID) else {
                continue
            }
            rows.insert(Self.commitRow(pending))
        }
        // A proposal of a past epoch makes MDK 0.7 roll back (docs/protocol/marmot.md §11.21).
        for (groupID, event) in self.intents.proposals where self.isReading(groupID) {
            rows.insert(Self.proposalRow(event))
        }
        return rows
    }

    /// Records that an attempt to publish ended without an answer.
    mutating func noteUnanswered(_ row: String) {
        guard let groupID = self.delivery.queue.row(row)?.groupID, let pending = self.groups[groupID]?.pendingEvent,
            Self.commitRow(pending) == row
        else { return }
        self.convergence.noteUnconfirmedCommit(of: groupID)
    }

    /// Whether a group's stored events are being read from relays.
    func isReading(_ groupID: GroupID) -> Bool {
        self.catchUp.isReading(groupID, from: self.groups[groupID].map(self.relays(of:)) ?? [])
    }

    /// Reads the relays of groups with an unanswered commit before it is sent again.
    mutating func readForUnconfirmedCommits(_ step: inout CoreStep) {
        for groupID in self.convergence.unconfirmedCommits {
            guard let group = self.groups[groupID], !self.isReading(groupID) else { continue }
            for relay in self.relays(of: group)
            where self.state.relays.contains(where: { $0.url == relay && $0.connection == .connected }) {
                self.catchUp(relay, &step)
            }
        }
    }

    /// Resumes commits and intents that waited for a relay to be read. A commit of this account is abandoned if the
    /// relays have another commit for the same epoch and not this one.
    mutating func endReading(_ relay: RelayURL?, _ step: inout CoreStep) {
        if let relay, !self.convergence.stateRollback.isOpen {
            for (groupID, group) in self.groups where self.relays(of: group).contains(relay) {
                self.convergence.noteRead(groupID)
            }
        }
        for (groupID, group) in self.groups where !self.isReading(groupID) {
            self.intents.unblock(groupID)
            guard group.hasPendingCommit else { continue }
            if let relay, !self.relays(of: group).contains(relay) { continue }
            self.convergence.endUnconfirmedCommit(of: groupID)
            self.yieldIfDisplaced(groupID, &step)
        }
        self.renewCopiedGroups(&step)
        self.people.markGroupProfilesUnsent(of: self.account.publicKey)
        self.recountGaps(&step)
        self.flushOutbox(&step)
    }

    private mutating func yieldIfDisplaced(_ groupID: GroupID, _ step: inout CoreStep) {
        if self.groups[second: groupID] != nil { return self.yieldSettlingCommit(of: groupID, &step) }
        guard var probe = self.groups[first: groupID], let event = probe.pending?.event.id,
            !self.inbound.waiting.isEmpty(under: self.groups.routes.ids(of: groupID))
        else { return }
        probe.clearPending()
        let isDisplaced = self.waitingInOrder(of: groupID).contains { event in
            if case .commit = probe.ingest(event, now: step.now) { true } else { false }
        }
        guard isDisplaced else { return }
        self.groups[first: groupID]?.clearPending()
        self.loseCommit(event, of: groupID, &step)
        self.retryWaiting(of: groupID, &step)
    }

    /// Stops publishing a commit that was abandoned for others, so that its intent is considered again.
    mutating func loseCommit(_ event: EventID, of groupID: GroupID, _ step: inout CoreStep) {
        self.groups.markChanged(groupID)
        self.dropRow(Self.commitRow(event), &step)
        guard var intent = self.intents.intent(of: event) else { return }
        intent.phase = .lost(event)
        self.put(intent, &step)
    }
}
