import MLS
import Marmot
import Nostr

/// Commits of one's own: made, published, merged when a relay has them, given up when none takes them.
extension CoreModel {
    /// Makes a commit for an intent and publishes it; it is merged when a relay has it.
    ///
    /// Relays may take it just before a crash, so it is stored with the group before it is published.
    mutating func commit(_ change: GroupChange, for intent: GroupIntent, _ step: inout CoreStep) throws {
        let groupID = intent.groupID
        let limits = self.sizeLimits
        guard
            let own = try self.groups[groupID]?.commit(
                change, client: self.configuration.client, limits: limits, now: step.now,
                using: &step.random),
            let relays = self.groups[groupID].map(self.relays(of:))
        else { return }
        self.dirtyGroups.insert(groupID)
        // What was unsure was an earlier commit, which this one's epoch has left behind.
        self.unsureCommits.remove(groupID)
        var intent = intent
        intent.phase = .committing(own.event.id)
        self.put(intent, &step)
        self.enqueue(id: Self.commitRow(own.event.id), own.event, to: relays, .commit, groupID: groupID, &step)
    }

    var sizeLimits: SizeLimits { SizeLimits(relayEventBytes: self.configuration.maximumEventBytes) }

    static func commitRow(_ event: EventID) -> String { "commit/\(event.hex)" }

    /// A relay has the pending commit: merge it, and send the invitations now, not before.
    mutating func confirmCommit(_ event: EventID, of groupID: GroupID, _ step: inout CoreStep) {
        guard self.groups[groupID]?.pending?.event.id == event else { return }
        self.unsureCommits.remove(groupID)
        self.dirtyGroups.insert(groupID)
        // It goes on to the relays that lack it.
        self.settleOutbox(Self.commitRow(event), &step)
        do {
            guard let (report, welcomes) = try self.groups[groupID]?.mergePending(), let group = self.groups[groupID]
            else { return }
            self.remember(event, &step)
            try self.send(welcomes, of: group, &step)
            self.settle(event, epoch: report.epochBefore, &step)
            self.take(report, of: groupID, &step)
        } catch {
            self.groups[groupID]?.clearPending()
            if let intent = self.intent(of: event) { self.abandon(intent, error, &step) }
        }
    }

    /// No relay took the pending commit: it never happened.
    mutating func dropRefusedCommit(_ row: OutboxRow, reason: String, _ step: inout CoreStep) {
        guard let groupID = row.groupID, self.groups[groupID]?.pending?.event.id == row.event.id else { return }
        self.groups[groupID]?.clearPending()
        self.unsureCommits.remove(groupID)
        self.dirtyGroups.insert(groupID)
        self.intentsDue.insert(groupID)
        if let intent = self.intent(of: row.event.id) {
            self.abandon(intent, AppCoreError(.refused, "every relay refused the change: \(reason)"), &step)
        }
        self.retryWaiting(of: groupID, &step)
    }

    // MARK: Commits of which nobody knows whether a relay has them

    /// The pending commits and proposals that must not leave now: relays are being read, or have to be, since another commit may
    /// have taken their place while this account was away.
    var heldCommits: Set<String> {
        // Asked whenever something leaves: without any of these nothing is held, however many groups there are.
        if self.unsureCommits.isEmpty, self.reading.isEmpty, self.catchingUp.isEmpty { return [] }
        var rows: Set<String> = []
        for (groupID, group) in self.groups {
            guard let pending = group.pending, self.unsureCommits.contains(groupID) || self.isReading(groupID) else {
                continue
            }
            rows.insert(Self.commitRow(pending.event.id))
        }
        // A proposal of an epoch that is over makes MDK 0.7 roll back (wire §10, trap 21).
        for intent in self.intents.values {
            if case .proposed(let event, _) = intent.phase, self.isReading(intent.groupID) {
                rows.insert(Self.proposalRow(event))
            }
        }
        return rows
    }

    /// An attempt to publish ended without an answer.
    mutating func noteUnanswered(_ row: String) {
        guard let groupID = self.queue.row(row)?.groupID, let pending = self.groups[groupID]?.pending,
            Self.commitRow(pending.event.id) == row
        else { return }
        self.unsureCommits.insert(groupID)
    }

    /// Whether what relays hold of a group is being read.
    func isReading(_ groupID: GroupID) -> Bool {
        if self.reading[groupID] != nil { return true }
        guard !self.catchingUp.isEmpty, let group = self.groups[groupID] else { return false }
        return self.relays(of: group).contains(where: self.catchingUp.contains)
    }

    /// Reads the relays of groups with an unanswered commit again before it is sent once more.
    mutating func readForUnsureCommits(_ step: inout CoreStep) {
        for groupID in self.unsureCommits {
            guard let group = self.groups[groupID], !self.isReading(groupID) else { continue }
            for relay in self.relays(of: group)
            where self.state.relays.contains(where: { $0.url == relay && $0.connection == .connected }) {
                self.catchUp(relay, &step)
            }
        }
    }

    /// A relay was read: commits and intents of its groups that waited for this go on. One's own commit is given up if
    /// another one for the same epoch is there and it is not.
    mutating func endReading(_ relay: RelayURL?, _ step: inout CoreStep) {
        if let relay, !self.stateRollback.isOpen {
            for (groupID, group) in self.groups where self.relays(of: group).contains(relay) {
                self.stateRollback.noteRead(groupID)
            }
        }
        for (groupID, group) in self.groups where !self.isReading(groupID) {
            if self.intentsBlocked.remove(groupID) != nil { self.intentsDue.insert(groupID) }
            guard group.pending != nil else { continue }
            if let relay, !self.relays(of: group).contains(relay) { continue }
            self.unsureCommits.remove(groupID)
            self.yieldIfDisplaced(groupID, &step)
        }
        self.renewCopiedGroups(&step)
        self.noteUntoldProfiles()
        self.settleGaps(&step)
        self.flushOutbox(&step)
    }

    private mutating func yieldIfDisplaced(_ groupID: GroupID, _ step: inout CoreStep) {
        guard var probe = self.groups[groupID], let event = probe.pending?.event.id,
            !self.waiting.isEmpty(under: self.routes.ids(of: groupID))
        else { return }
        probe.clearPending()
        let isDisplaced = self.waitingInOrder(of: groupID).contains { event in
            if case .commit = probe.ingest(event, now: step.now) { true } else { false }
        }
        guard isDisplaced else { return }
        self.groups[groupID]?.clearPending()
        self.dirtyGroups.insert(groupID)
        self.dropRow(Self.commitRow(event), &step)
        if var intent = self.intent(of: event) {
            intent.phase = .lost(event)
            self.put(intent, &step)
        }
        self.retryWaiting(of: groupID, &step)
    }
}
