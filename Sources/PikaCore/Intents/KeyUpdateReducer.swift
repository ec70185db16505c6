import MLS
import Marmot
import Nostr

/// Coordinates the renewal of this account's keys (``KeyRenewals``).
extension CoreModel {
    mutating func noteJoin(of groupID: GroupID, _ step: inout CoreStep) {
        self.intents.noteJoin(of: groupID, self.configuration.selfUpdate, &step)
    }

    mutating func noteRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        self.intents.noteRenewal(of: groupID, self.configuration.selfUpdate, &step)
    }

    mutating func postponeRenewal(of groupID: GroupID, _ step: inout CoreStep) {
        self.intents.postponeRenewal(of: groupID, self.configuration.selfUpdate, &step)
    }

    /// Renews due keys in quiet groups; in others the renewal is delayed further.
    mutating func renewDueKeys(_ step: inout CoreStep) {
        let policy = self.configuration.selfUpdate
        guard let due = self.intents.dueRenewals(policy, nowMilliseconds: step.nowMilliseconds) else { return }
        for groupID in due {
            guard let group = self.groups[groupID], group.isActive else {
                self.intents.endRenewals(of: groupID, &step)
                continue
            }
            if self.isQuiet(group) { self.addIntent(.selfUpdate(isAutomatic: true), groupID, nil, &step) }
            self.intents.delayRenewal(of: groupID, policy, &step)
        }
        self.intents.scheduleRenewals(policy, &step)
    }

    /// Whether no other change is in progress in a group, according to at least one up-to-date relay.
    private func isQuiet(_ group: MarmotGroup) -> Bool {
        let relays = self.relays(of: group)
        guard !self.convergence.copies.holdsBack(group.groupID) else { return false }
        return group.pending == nil && !group.isLeaving && group.dueDepartures.isEmpty
            && !self.isReading(group.groupID) && !self.intents.hasOpen(in: group.groupID)
            && self.state.relays.contains { relays.contains($0.url) && $0.connection == .connected && $0.isCaughtUp }
    }

    // MARK: Restart

    mutating func restoreKeyAges(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .keyAge {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.intents.restoreKeyAge(of: GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "the stored age of a key cannot be read")
            }
        }
    }

    /// Starts counting the age of keys in groups where it was not counted.
    mutating func startRenewals(_ step: inout CoreStep) {
        let active = self.groups.all.filter(\.value.isActive).keys
        self.intents.startRenewals(in: active, self.configuration.selfUpdate, &step)
    }
}
