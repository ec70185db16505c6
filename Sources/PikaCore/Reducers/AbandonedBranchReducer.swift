import MLS
import Marmot
import Nostr

/// Branches of commits that lost, while most members never saw the better one in time: once they are more epochs on than
/// anybody can roll back, they stay there, and this account goes there too.
extension CoreModel {
    /// Keeps the branch that a group has just given up, if it did.
    ///
    /// - Parameter epoch: that the better commit ended; nil if the branch is that of the commit that lost.
    mutating func keepAbandoned(of groupID: GroupID, at epoch: Epoch?, _ step: inout CoreStep) {
        guard let branch = self.groups[groupID]?.takeAbandoned() else { return }
        self.abandon(branch, at: epoch ?? branch.epoch.earlier(by: 1), &step)
    }

    private mutating func abandon(_ group: MarmotGroup, at epoch: Epoch, _ step: inout CoreStep) {
        self.forgetAbandoned(of: group.groupID, &step)
        self.abandoned[group.groupID] = AbandonedBranch(group: group, epoch: epoch)
        let key = StoredGroupKey.abandonedBranch(group.groupID, epoch)
        let stored = group.stored
        step.changes.append(.putGroupHeader(groupID: key, header: stored.header))
        step.changes.append(
            .updateGroup(
                groupID: key, GroupStorageChanges(replacesAll: true, records: stored.records.mapValues { .some($0) })))
    }

    mutating func forgetAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        guard let branch = self.abandoned.removeValue(forKey: groupID) else { return }
        self.formerBranchTrials += branch.trialCount
        step.changes.append(.deleteGroup(groupID: StoredGroupKey.abandonedBranch(groupID, branch.epoch)))
    }

    /// After a commit on the branch that this account is on: beyond the reach of races nothing leads back.
    mutating func forgetOldAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        guard let branch = self.abandoned[groupID], let known = self.groups[groupID],
            !branch.epoch.isWithin(known.profile.pastEpochs, of: known.epoch)
        else { return }
        self.forgetAbandoned(of: groupID, &step)
    }

    /// Whether what waits shows that others live on in the branch that was given up.
    ///
    /// - Parameter fresh: events that came since the last time.
    mutating func leadsBack(to groupID: GroupID, _ fresh: [Event], now: Int64) -> Bool {
        let (waiting, ids) = (self.waiting, self.routes.ids(of: groupID))
        self.abandoned[groupID]?.observe(fresh, now: now) { waiting.events(under: ids) }
        return self.abandoned[groupID]?.livesOn(besides: self.account.publicKey) ?? false
    }
}
