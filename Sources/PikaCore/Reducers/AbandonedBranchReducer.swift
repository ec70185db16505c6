import MLS
import Marmot
import Nostr

/// Branches of commits that lost a race where most members never saw the better commit in time. Once such a branch is
/// more epochs ahead than any member can roll back, the members stay on it, and this account returns to it.
extension CoreModel {
    /// Stores the branch that a group has just abandoned, if any.
    ///
    /// - Parameter epoch: the epoch that the better commit ended; nil if the branch is that of the losing commit.
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

    /// Drops the branch after a commit on the current one once it is beyond the reach of races.
    mutating func forgetOldAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        guard let branch = self.abandoned[groupID], let known = self.groups[groupID],
            !branch.epoch.isWithin(known.profile.pastEpochs, of: known.epoch)
        else { return }
        self.forgetAbandoned(of: groupID, &step)
    }

    /// Whether waiting events show that other members continue on the abandoned branch.
    ///
    /// - Parameter fresh: events that arrived since the last call.
    mutating func leadsBack(to groupID: GroupID, _ fresh: [Event], now: Int64) -> Bool {
        let (waiting, ids) = (self.waiting, self.routes.ids(of: groupID))
        self.abandoned[groupID]?.observe(fresh, now: now) { waiting.events(under: ids) }
        return self.abandoned[groupID]?.livesOn(besides: self.account.publicKey) ?? false
    }
}
