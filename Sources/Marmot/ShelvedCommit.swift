import MLS
import Nostr

/// A commit of one's own that is not pending: it was given up without knowing whether a relay has it, or it was merged.
/// In another wrapper, with an earlier time, it can win again.
struct ShelvedCommit: Sendable {
    let event: Event
    let welcomes: [DueWelcome]
    /// The epoch that it ends, and what tells that epoch from the same one on another branch.
    let epoch: Epoch
    let authenticator: Secret
    let digest: [UInt8]
    /// From the group before it to the group after it.
    let changes: GroupStorageChanges
}

extension MarmotGroup {
    /// Commits that are kept; older ones are forgotten. A group that commits alone needs one for each epoch that can be
    /// rolled back.
    static let maximumShelved = 6

    /// The kept commit that is meant, unless it is the one that stands for its epoch.
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

    /// A given-up commit came back: a relay has it, so others have taken it in. It counts like anybody's
    /// (docs/protocol/marmot.md §5.7), and is pending again if it stands.
    ///
    /// - Parameter event: what carried it; nil for its own event.
    mutating func take(_ commit: ShelvedCommit, in event: Event? = nil) throws(MarmotError) -> Disposition {
        let event = event ?? commit.event
        let order = CommitOrder(event)
        var candidate = self
        if commit.epoch != self.epoch || commit.authenticator != self.mls.epochAuthenticator {
            guard let position = self.snapshots.firstIndex(where: { $0.epoch == commit.epoch }) else {
                return .refused(Refusal("past_epoch", "a commit of one's own for an epoch that is over"))
            }
            guard order < self.snapshots[position].order else {
                return .refused(Refusal("lost_race", "an earlier commit for epoch \(commit.epoch) was applied"))
            }
            try candidate.restore(position)
            guard commit.authenticator == candidate.mls.epochAuthenticator else {
                return .refused(Refusal("past_epoch", "a commit of one's own on a branch that was given up"))
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
        if candidate.epoch < self.epoch { self.giveUp(for: candidate) } else { self = candidate }
        return .ownCommit
    }

    /// Reads a given-up or stored commit back; this value must be the one that it was made on.
    func restore(_ commit: ShelvedCommit) throws(MarmotError) -> OwnCommit {
        do {
            let next = try self.mls.successor(by: commit.changes)
            guard self.epoch.isFollowed(by: next.epoch), next.groupID == self.mls.groupID else {
                throw MarmotError(.badStoredForm, "the commit does not follow on the group")
            }
            return OwnCommit(
                event: commit.event, welcomes: commit.welcomes, next: next,
                data: try Self.data(next.extensions, self.profile), digest: commit.digest)
        } catch let error as MarmotError { throw error } catch { throw MarmotError(.badStoredForm, "\(error)") }
    }
}
