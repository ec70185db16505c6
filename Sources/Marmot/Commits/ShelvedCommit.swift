import MLS
import Nostr

/// A commit of this account that is not pending: abandoned without knowing whether a relay has it, or merged. It can
/// still win if it arrives in another wrapper with an earlier time.
struct ShelvedCommit: Sendable {
    let event: Event
    let welcomes: [DueWelcome]
    /// The epoch that the commit ends. The authenticator distinguishes it from the same epoch on another branch.
    let epoch: Epoch
    let authenticator: Secret
    let digest: [UInt8]
    /// Changes from the group before the commit to the group after it.
    let changes: GroupStorageChanges
}

extension MarmotGroup {
    /// The maximum number of shelved commits; older ones are deleted. A member that commits alone needs one for each
    /// epoch that can be rolled back.
    static let maximumShelved = 6

    /// Returns the first matching shelved commit that was not applied in one of the kept epochs.
    func shelved(where isMeant: (ShelvedCommit) -> Bool) -> ShelvedCommit? {
        self.shelved.first { commit in
            isMeant(commit) && !self.snapshots.contains { $0.digest == commit.digest }
        }
    }

    func stored(_ own: OwnCommit) -> ShelvedCommit {
        ShelvedCommit(
            event: own.event, welcomes: own.welcomes, epoch: self.epoch, authenticator: self.mls.epochAuthenticator,
            digest: own.digest, changes: self.mls.changes(to: own.next))
    }

    mutating func shelve(_ own: OwnCommit) {
        self.shelved.append(self.stored(own))
        self.changedParts.insert(.ownCommit(own.event.id))
        guard self.shelved.count > Self.maximumShelved, let oldest = self.shelved.first?.event.id else { return }
        self.dropShelved { $0.event.id == oldest }
    }

    mutating func dropShelved(where isDropped: (ShelvedCommit) -> Bool) {
        for commit in self.shelved where isDropped(commit) { self.changedParts.insert(.ownCommit(commit.event.id)) }
        self.shelved.removeAll(where: isDropped)
    }

    /// Handles an abandoned commit that arrives from a relay: other members have applied it. It competes like any other
    /// commit (docs/protocol/marmot.md §5.7), and becomes pending again if it wins.
    ///
    /// - Parameter event: the event that contained it; nil for its original event.
    mutating func reinstate(_ commit: ShelvedCommit, in event: Event? = nil) throws(MarmotError) -> Disposition {
        let event = event ?? commit.event
        let order = CommitOrder(event)
        var candidate = self
        if commit.epoch != self.epoch || commit.authenticator != self.mls.epochAuthenticator {
            guard let position = self.snapshots.firstIndex(where: { $0.epoch == commit.epoch }) else {
                return .refused(Refusal(.pastEpoch, "this account's own commit for a past epoch"))
            }
            guard order < self.snapshots[position].order else {
                return .refused(Refusal(.lostRace, "an earlier commit for epoch \(commit.epoch) was applied"))
            }
            try candidate.restore(position)
            guard commit.authenticator == candidate.mls.epochAuthenticator else {
                return .refused(Refusal(.pastEpoch, "this account's own commit on an abandoned branch"))
            }
        } else if let pending = self.pending, CommitOrder(pending.event) < order {
            return .waiting(.ownCommitPending)
        }
        let restored = try candidate.restore(commit)
        candidate.dropShelved { $0.event.id == commit.event.id }
        candidate.setPending(
            OwnCommit(
                event: event, welcomes: restored.welcomes, next: restored.next, data: restored.data,
                digest: restored.digest,
                rolledBackFrom: candidate.epoch < self.epoch ? self.epoch : nil))
        if candidate.epoch < self.epoch { self.abandonBranch(for: candidate) } else { self = candidate }
        return .ownCommit
    }

    /// Restores a shelved or stored commit; the group must be in the state that it was created in.
    func restore(_ commit: ShelvedCommit) throws(MarmotError) -> OwnCommit {
        do {
            let next = try self.mls.successor(by: commit.changes)
            guard self.epoch.isFollowed(by: next.epoch), next.groupID == self.mls.groupID else {
                throw MarmotError(.badStoredForm, "the commit does not follow the group's epoch")
            }
            return OwnCommit(
                event: commit.event, welcomes: commit.welcomes, next: next,
                data: try Self.data(next.extensions, self.profile), digest: commit.digest)
        } catch let error as MarmotError { throw error } catch { throw MarmotError(.badStoredForm, "\(error)") }
    }
}
