import MLS
import Marmot
import Nostr

/// Branches of commits that lost, while most members never saw the better one in time: once they are more epochs on than
/// anybody can roll back, they stay there, and this account goes there too.
extension CoreModel {
    struct AbandonedBranch: Sendable {
        let group: MarmotGroup
        /// The epoch that the better commit ended.
        let epoch: Epoch
    }

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
        step.changes.append(.deleteGroup(groupID: StoredGroupKey.abandonedBranch(groupID, branch.epoch)))
    }

    /// After a commit on the branch that this account is on: beyond the reach of races nothing leads back.
    mutating func forgetOldAbandoned(of groupID: GroupID, _ step: inout CoreStep) {
        guard let branch = self.abandoned[groupID], let known = self.groups[groupID],
            !branch.epoch.isWithin(known.profile.pastEpochs, of: known.epoch)
        else { return }
        self.forgetAbandoned(of: groupID, &step)
    }

    /// Whether what waits shows that others live on in the branch that was given up: too far on to come back, and more
    /// than one of them, since a single member could stay there to lead others astray.
    func leadsBack(_ branch: AbandonedBranch, now: Int64) -> Bool {
        var probe = branch.group
        var authors: Set<PublicKey> = []
        var moved = true
        while moved {
            moved = false
            for event in self.waitingInOrder(of: branch.group.groupID) {
                switch probe.ingest(event, now: now) {
                case .commit(let report):
                    guard !report.removedSelf else { return false }
                    authors.insert(report.committer)
                    moved = true
                case .message(let message): authors.insert(message.rumor.pubkey)
                case .proposal, .waiting, .refused, .ownCommit, .ownEcho: break
                }
            }
        }
        let others = Set(probe.members).subtracting([self.account.publicKey])
        return !branch.epoch.isWithin(probe.profile.pastEpochs, of: probe.epoch)
            && authors.intersection(others).count >= min(2, others.count)
    }
}
