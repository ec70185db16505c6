import MLS
import Marmot
import Nostr

/// Coordinates groups whose keys another copy has, as after a restore (``CopiedGroups``).
extension CoreModel {
    private mutating func apply(_ outcome: CopiedGroups.Outcome, to groupID: GroupID, _ step: inout CoreStep) {
        if outcome.changesChat { self.refreshChat(groupID) }
        if let epoch = outcome.loadsUnsent {
            step.effects.append(.loadUnsent(groupID: groupID, upToEpoch: epoch))
        }
        if outcome.renews { self.renewCopied(groupID, &step) }
    }

    /// Marks all active groups as copied, since another copy has their keys. Returns the number of active groups.
    mutating func markAllCopied(_ step: inout CoreStep) -> Int {
        let active = self.groups.values.filter(\.isActive).map(\.groupID)
        for groupID in active where !self.convergence.copies.isOvertaken(groupID) { self.markCopied(groupID, &step) }
        return active.count
    }

    mutating func markCopied(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        // Those that were merged may be undone, and applied again.
        let digests = group.second?.convergence.ownCommitIDs ?? []
        let merged = Set(digests.compactMap { self.settlement.event(of: $0, in: groupID)?.id })
        let outcome = self.convergence.copies.mark(group, and: merged, &step)
        self.apply(outcome, to: groupID, &step)
    }

    // MARK: Start

    /// Processes a restore: the same transaction marks each group, and settles the restore as a whole.
    mutating func acceptRestore(_ step: inout CoreStep) {
        if self.convergence.instance.isRestored {
            let count = self.markAllCopied(&step)
            step.changes.append(.markRestoreHandled)
            step.effects.append(.note(.restored(groups: count)))
        }
        for (groupID, epoch) in self.convergence.copies.resealing {
            step.effects.append(.loadUnsent(groupID: groupID, upToEpoch: epoch))
        }
    }

    mutating func restoreCopiedGroups(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .copiedGroup {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.convergence.copies.restore(GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "the stored state of a restored group cannot be read")
            }
        }
    }

    /// Marks a group that this account enters if another copy may have its keys too: those of an old key package, or
    /// of a state that this account has left.
    mutating func enterCopied(
        _ groupID: GroupID, by welcome: Welcome?, _ step: inout CoreStep
    ) {
        let package = welcome.flatMap { self.keyPackages.package(for: $0) }
        if self.convergence.mayHaveCopies, package.map(self.convergence.isCopied) ?? true {
            self.markCopied(groupID, &step)
        } else {
            self.apply(self.convergence.copies.unmark(groupID, &step), to: groupID, &step)
        }
    }

    // MARK: The commit

    /// Renews the keys of groups that waited for relays to be read, unless such a commit is in flight.
    mutating func renewCopiedGroups(_ step: inout CoreStep) {
        for groupID in self.convergence.copies.unrenewed { self.renewCopied(groupID, &step) }
    }

    private mutating func renewCopied(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], group.isActive, !self.isReading(groupID) else { return }
        let relays = self.relays(of: group)
        guard self.state.relays.contains(where: { relays.contains($0.url) && $0.isCaughtUp }) else { return }
        self.convergence.copies.renew(groupID, &step)
        let goal = GroupIntent.Goal.selfUpdate(isAutomatic: false)
        if !self.intents.hasOpen(goal, in: groupID) { self.addIntent(goal, groupID, nil, &step) }
        self.intents.resume(groupID)
    }

    mutating func followCopied(_ groupID: GroupID, _ report: CommitReport, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        let outcome = self.convergence.copies.follow(
            report, in: group, hasCopies: self.convergence.mayHaveCopies, &step)
        self.apply(outcome, to: groupID, &step)
    }

    /// Seals this account's waiting messages again; then all rows may be sent.
    mutating func resealCopied(
        _ messages: [StoredMessage], of groupID: GroupID, upToEpoch epoch: Epoch, _ step: inout CoreStep
    ) {
        // If their commit was undone in the meantime, another commit and another load follow.
        guard self.convergence.copies.phase(of: groupID) == .resealing(epoch: epoch) else { return }
        let found = Dictionary(messages.map { ($0.id, $0) }) { first, _ in first }
        let rows = self.delivery.queue.rows { $0.groupID == groupID && $0.purpose == .message }
        for row in rows.sorted(by: { $0.sequence < $1.sequence }) {
            guard let message = row.messageID.flatMap({ found[$0] }), message.epoch <= epoch else { continue }
            guard !Self.isMomentary(message.rumor.kind) else {
                self.dropRow(row.id, &step)
                self.noteFailed(row, "it is too late to send a message of this kind", isKept: false, &step)
                continue
            }
            guard !self.hasLostFiles(message) else {
                self.noteLost(message, .filesLost, &step)
                continue
            }
            do { _ = try self.reseal(message, &step) } catch {
                step.effects.append(.note(.sendFailed(reason: "message after a restore: \(error)")))
            }
        }
        self.convergence.copies.endReseal(of: groupID, upToEpoch: epoch, &step)
        self.intents.resume(groupID)
        self.flushOutbox(&step)
    }

    // MARK: Overtaken

    /// Marks a group as overtaken: the other copy has made a commit whose keys this copy lacks.
    mutating func noteOvertaken(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], let outcome = self.convergence.copies.overtake(groupID, &step)
        else { return }
        self.apply(outcome, to: groupID, &step)
        for intent in self.intents.open(in: groupID) { self.abandon(intent, AppCoreError.overtaken, &step) }
        self.failHeld(of: groupID, AppCoreError.overtaken, &step)
        for row in self.delivery.queue.rows(where: { $0.groupID == groupID }) {
            self.dropRow(row.id, &step)
            self.noteFailed(row, AppCoreError.overtaken.message, &step)
        }
        if group.hasPendingCommit {
            self.groups[first: groupID]?.clearPending()
            self.groups[second: groupID]?.abandonOwnCommit(now: step.monotonicMilliseconds)
            self.convergence.endUnconfirmedCommit(of: groupID)
            self.groups.markChanged(groupID)
        }
        self.state.toast = AppCoreError.overtaken.message
        step.effects.append(.note(.overtaken(chatID: ChatID(groupID))))
    }

    /// The ids of rows that must not be sent now.
    var heldRows: Set<String> {
        var rows = self.heldCommits
        if self.convergence.fence.isClosed { rows.formUnion(self.delivery.queue.rows { $0.groupID != nil }.map(\.id)) }
        let stateRollback = self.convergence.stateRollback
        if !stateRollback.isOpen {
            rows.formUnion(self.delivery.queue.rows { $0.groupID.map(stateRollback.holdsBack) ?? false }.map(\.id))
        }
        for groupID in self.convergence.copies.heldBack {
            rows.formUnion(self.delivery.queue.rows { $0.groupID == groupID && $0.purpose != .commit }.map(\.id))
        }
        return rows
    }
}

extension AppCoreError {
    static let overtaken = AppCoreError(
        .overtaken,
        "another copy of this account has changed the group's keys; ask a member to invite this account again")
}
