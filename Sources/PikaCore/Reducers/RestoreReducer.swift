import MLS
import Marmot
import Nostr

/// Groups after a restore: each gets fresh keys before any own event is sent in it (``CopiedGroup``).
extension CoreModel {
    private mutating func put(_ copied: CopiedGroup?, of groupID: GroupID, _ step: inout CoreStep) {
        if self.copies.groups.put(copied, of: groupID, &step) { self.refreshChat(groupID) }
    }

    /// Marks all active groups as copied, since another copy has their keys. Returns the number of active groups.
    mutating func markAllCopied(_ step: inout CoreStep) -> Int {
        let active = self.groups.values.filter(\.isActive).map(\.groupID)
        for groupID in active where !self.copies.groups.isOvertaken(groupID) { self.markCopied(groupID, &step) }
        return active.count
    }

    mutating func markCopied(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID] else { return }
        var old = Set(
            group.parts.compactMap { if case .ownCommit(let event) = $0 { event } else { nil as EventID? } })
        if let pending = group.pending { old.insert(pending.event.id) }
        self.put(CopiedGroup(oldCommits: old), of: groupID, &step)
    }

    // MARK: Start

    /// Processes a restore: the same transaction marks each group, and settles the restore as a whole.
    mutating func acceptRestore(_ step: inout CoreStep) {
        if self.instance.isRestored {
            let count = self.markAllCopied(&step)
            step.changes.append(.settleRestore)
            step.effects.append(.note(.restored(groups: count)))
        }
        for groupID in self.copies.groups.ids(where: { $0.resealedEpoch != nil }) {
            self.loadUnsent(of: groupID, &step)
        }
    }

    mutating func restoreCopiedGroups(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .copiedGroup {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.copies.groups.restore(GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "the stored state of a restored group cannot be read")
            }
        }
    }

    /// Whether another copy of this account has the private keys of a key package.
    func isCopied(_ package: StoredKeyPackage) -> Bool { package.createdAt <= self.instance.generation / 1000 }

    /// Marks a group on entry if its keys may be another copy's too: of an old key package, or of a state that was
    /// left.
    mutating func enterCopied(
        _ groupID: GroupID, by invitation: WelcomeEvents.Invitation?, _ step: inout CoreStep
    ) {
        let package = invitation.flatMap { self.keyPackages.package(for: $0) }
        if self.instance.generation > 0, package.map(self.isCopied) ?? true {
            self.markCopied(groupID, &step)
        } else {
            self.put(nil, of: groupID, &step)
        }
    }

    // MARK: The commit

    /// Makes the commits of groups that waited for relays to be read, unless they are in flight.
    mutating func renewCopiedGroups(_ step: inout CoreStep) {
        for groupID in self.copies.groups.ids(where: { $0.phase == .reading || $0.phase == .renewing }) {
            self.renewCopied(groupID, &step)
        }
    }

    private mutating func renewCopied(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], group.isActive, !self.isReading(groupID) else { return }
        let relays = self.relays(of: group)
        guard self.state.relays.contains(where: { relays.contains($0.url) && $0.isCaughtUp }) else { return }
        var copied = self.copies.groups[groupID]
        copied?.phase = .renewing
        self.put(copied, of: groupID, &step)
        let goal = GroupIntent.Goal.selfUpdate(isAutomatic: false)
        if !self.intents.values.contains(where: { $0.groupID == groupID && $0.goal == goal && $0.isOpen }) {
            self.intend(goal, groupID, nil, &step)
        }
        self.intentsDue.insert(groupID)
    }

    /// Updates a copied group after a commit: an own commit gives fresh keys, and a better one may revoke them.
    mutating func followCopied(_ groupID: GroupID, _ report: CommitReport, _ step: inout CoreStep) {
        guard var copied = self.copies.groups[groupID], let group = self.groups[groupID] else { return }
        if report.removedSelf { return self.put(nil, of: groupID, &step) }
        if report.isOwn, !copied.oldCommits.contains(report.event) {
            copied.phase = .resealing(epoch: report.epochBefore)
            self.put(copied, of: groupID, &step)
            return self.loadUnsent(of: groupID, &step)
        }
        switch copied.phase {
        case .reading, .renewing: break
        case .overtaken:
            // Another member's commit has displaced the other copy's.
            guard self.instance.generation > 0 else { return self.put(nil, of: groupID, &step) }
            copied.phase = .reading
            self.put(copied, of: groupID, &step)
            self.renewCopied(groupID, &step)
        case .resealing(let epoch), .renewed(let epoch):
            if report.rolledBackFrom != nil, report.epochBefore <= epoch {
                copied.phase = .renewing
                self.put(copied, of: groupID, &step)
            } else if !epoch.isWithin(group.profile.pastEpochs, of: group.epoch), copied.resealedEpoch == nil {
                self.put(nil, of: groupID, &step)
            }
        }
    }

    private func loadUnsent(of groupID: GroupID, _ step: inout CoreStep) {
        guard let epoch = self.copies.groups[groupID]?.resealedEpoch else { return }
        step.effects.append(.loadUnsent(groupID: groupID, upToEpoch: epoch))
    }

    /// Seals the waiting own messages again; then all rows may be sent.
    mutating func resealCopied(
        _ messages: [StoredMessage], of groupID: GroupID, upToEpoch epoch: Epoch, _ step: inout CoreStep
    ) {
        // If their commit was undone in the meantime, another commit and another load follow.
        guard var copied = self.copies.groups[groupID], copied.resealedEpoch == epoch else { return }
        let found = Dictionary(messages.map { ($0.id, $0) }) { first, _ in first }
        let rows = self.queue.rows { $0.groupID == groupID && $0.purpose == .message }
        for row in rows.sorted(by: { $0.sequence < $1.sequence }) {
            guard let message = row.messageID.flatMap({ found[$0] }), message.epoch <= epoch else { continue }
            guard !Self.isMomentary(message.rumor.kind) else {
                self.dropRow(row.id, &step)
                self.noteFailed(row, "it was of use only at its time", isKept: false, &step)
                continue
            }
            do { _ = try self.reseal(message, &step) } catch {
                step.effects.append(.note(.sendFailed(reason: "message after a restore: \(error)")))
            }
        }
        copied.phase = .renewed(epoch: epoch)
        self.put(copied, of: groupID, &step)
        self.intentsDue.insert(groupID)
        self.flushOutbox(&step)
    }

    // MARK: Overtaken

    /// Marks a group as overtaken: the other copy has made a commit whose keys this copy lacks.
    mutating func noteOvertaken(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[groupID], !self.copies.groups.isOvertaken(groupID) else { return }
        var copied = self.copies.groups[groupID] ?? CopiedGroup()
        copied.phase = .overtaken
        self.put(copied, of: groupID, &step)
        for intent in self.intents.values where intent.groupID == groupID && intent.isOpen {
            self.abandon(intent, AppCoreError.overtaken, &step)
        }
        for row in self.queue.rows(where: { $0.groupID == groupID }) {
            self.dropRow(row.id, &step)
            self.noteFailed(row, AppCoreError.overtaken.message, &step)
        }
        if group.pending != nil {
            self.groups[groupID]?.clearPending()
            self.unsureCommits.remove(groupID)
            self.groups.markChanged(groupID)
        }
        self.state.toast = AppCoreError.overtaken.message
        step.effects.append(.note(.overtaken(chatID: groupID.hex)))
    }

    /// The ids of rows that must not be sent now.
    var heldRows: Set<String> {
        var rows = self.heldCommits
        if self.copies.fence.isClosed { rows.formUnion(self.queue.rows { $0.groupID != nil }.map(\.id)) }
        if !self.copies.rollback.isOpen {
            rows.formUnion(self.queue.rows { $0.groupID.map(self.copies.rollback.holdsBack) ?? false }.map(\.id))
        }
        for groupID in self.copies.groups.ids(where: \.holdsBack) {
            rows.formUnion(self.queue.rows { $0.groupID == groupID && $0.purpose != .commit }.map(\.id))
        }
        return rows
    }
}

extension AppCoreError {
    static let overtaken = AppCoreError(
        .overtaken,
        "another copy of this account has changed the group's keys; ask a member to invite this account again")
}
