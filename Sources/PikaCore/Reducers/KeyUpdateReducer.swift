import MLS
import Marmot
import Nostr

/// Renewing this account's keys in its groups: some time after joining, and by age (MIP-02, ``SelfUpdatePolicy``).
extension CoreModel {
    /// Schedules a renewal after joining a group with a key package that others may have seen.
    mutating func noteJoin(of groupID: GroupID, _ step: inout CoreStep) {
        guard self.configuration.selfUpdate.afterJoining != nil else { return self.noteRenewal(of: groupID, &step) }
        let delay = self.configuration.selfUpdate.delay(using: &step.random)
        self.put(KeyAge(notBefore: step.nowMilliseconds + delay), of: groupID, &step)
    }

    /// Restarts the age of the keys after founding a group, or after an own commit.
    mutating func noteRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        self.put(KeyAge(renewedAt: step.now), of: groupID, &step)
    }

    /// Postpones an automatic renewal that another member's commit displaced, but not indefinitely.
    mutating func postponeRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        let age = self.keyAges[groupID] ?? KeyAge(renewedAt: step.now)
        self.put(
            age.displaced(at: step.nowMilliseconds, self.configuration.selfUpdate, using: &step.random), of: groupID,
            &step)
    }

    private mutating func put(_ age: KeyAge, of groupID: GroupID, _ step: inout CoreStep) {
        guard self.configuration.selfUpdate != .never else { return }
        self.keyAges[groupID] = age
        step.changes.append(.putMemo(MemoName(.keyAge, groupID), age.stored))
        self.planRenewals(&step)
    }

    private mutating func planRenewals(_ step: inout CoreStep) {
        let next = self.keyAges.values.compactMap { $0.due(self.configuration.selfUpdate) }.min()
        // Timers that fire early plan anew, so that frequent changes of the due time leave few timers behind.
        guard let time = next.map({ min($0, step.nowMilliseconds + 86_400_000) }),
            time < self.keyUpdateWake ?? .max
        else { return }
        self.keyUpdateWake = time
        step.effects.append(.wake(.keyUpdates, atMilliseconds: time))
    }

    /// Renews due keys in quiet groups; in others the renewal is delayed further.
    mutating func renewDueKeys(_ step: inout CoreStep) {
        guard let wake = self.keyUpdateWake, wake <= step.nowMilliseconds else { return }
        self.keyUpdateWake = nil
        for (groupID, age) in self.keyAges.sorted(by: { $0.key < $1.key }) {
            guard let due = age.due(self.configuration.selfUpdate), due <= step.nowMilliseconds else { continue }
            guard let group = self.groups[groupID], group.isActive else {
                self.keyAges[groupID] = nil
                step.changes.append(.putMemo(MemoName(.keyAge, groupID), nil))
                continue
            }
            if self.isQuiet(group) { self.intend(.selfUpdate(isAutomatic: true), groupID, nil, &step) }
            self.keyAges[groupID]?.notBefore =
                step.nowMilliseconds + self.configuration.selfUpdate.delay(using: &step.random)
        }
        self.planRenewals(&step)
    }

    /// Whether no other change is in progress in a group, as far as an up-to-date relay shows.
    private func isQuiet(_ group: MarmotGroup) -> Bool {
        let relays = self.relays(of: group)
        guard self.copies.groups[group.groupID]?.holdsBack != true else { return false }
        return group.pending == nil && !group.isLeaving && group.dueDepartures.isEmpty
            && !self.isReading(group.groupID)
            && !self.intents.values.contains { $0.groupID == group.groupID && $0.isOpen }
            && self.state.relays.contains { relays.contains($0.url) && $0.connection == .connected && $0.isCaughtUp }
    }

    // MARK: Restart

    mutating func restoreKeyAges(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .keyAge {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard let age = KeyAge(content) else {
                throw AppCoreError(.corruptState, "the stored age of a key cannot be read")
            }
            self.keyAges[GroupID(name.key)] = age
        }
    }

    /// Starts counting the age of keys in groups where it was not counted.
    mutating func startRenewals(_ step: inout CoreStep) {
        for (groupID, group) in self.groups where group.isActive && self.keyAges[groupID] == nil {
            self.noteRenewal(of: groupID, &step)
        }
        self.planRenewals(&step)
    }
}
