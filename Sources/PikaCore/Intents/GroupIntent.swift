import MLS
import Marmot
import Nostr

/// A requested change to a group, kept until it is settled: across restarts, and when another member's commit displaces
/// the commit that was to make it.
struct GroupIntent: Sendable {
    enum Goal: Sendable, Hashable {
        /// Create a group with these peers.
        case found(name: String, peers: [PublicKey], isDirect: Bool, groupProtocol: GroupProtocol)
        case add([PublicKey])
        case remove([PublicKey])
        case set(GroupField)
        case selfDemote
        case upgrade
        /// Fresh keys for this account; automatic unless a caller requested them.
        case selfUpdate(isAutomatic: Bool)
        /// Execute the departures of others.
        case commitDepartures
        /// Leave the group.
        case leave
        /// End a group of the second generation for all members.
        case disband
        /// Make it possible to disband a group of the second generation whose founder did not.
        case enableDisbanding

        /// Whether no caller requested it, so that its failure is not reported.
        var isAutomatic: Bool { self == .commitDepartures || self == .selfUpdate(isAutomatic: true) }
    }

    enum Phase: Sendable, Hashable {
        case queued
        /// The peers' key packages are being searched for.
        case searching
        /// This commit is on its way to relays.
        case committing(EventID)
        /// This commit was abandoned for another one, which is about to be applied.
        case lost(EventID)
        /// A relay has this commit, which ended this epoch; a better commit may still undo it.
        case settled(EventID, epoch: Epoch)
        /// This proposal asks the other members for the change, in this epoch.
        case proposed(EventID, epoch: Epoch)

        var commit: EventID? {
            switch self {
            case .committing(let event), .lost(let event), .settled(let event, _): event
            case .queued, .searching, .proposed: nil
            }
        }
    }

    let number: Int
    /// ``GroupID/notYetCreated`` for a group that does not exist yet.
    let groupID: GroupID
    var goal: Goal
    /// The treatment of peers that have no usable key package.
    var missing = MissingPeers.fail
    /// The member that becomes an admin before this account leaves.
    var successor: PublicKey?
    var phase = Phase.queued
    /// The caller's request, in this run of the process; stored only if it is idempotent.
    var request: RequestID?
    /// The peers' key packages, once found.
    var invitees: ChosenInvitees?
    /// Number of times that its commit lost a race or was rolled back.
    var losses = 0
    /// The last commit that lost or was rolled back. In the second generation it may win after all.
    var formerCommit: EventID?
    /// The peers that the caller proceeds without, as known in this run of the process.
    var left: [PublicKey: InviteFailure] = [:]
    /// Whether the peers' key packages decided the generation of the group to create, in this run of the process.
    var choseGeneration = false

    /// Whether the change is still to be made.
    var isOpen: Bool { if case .settled = self.phase { false } else { true } }

    var memo: MemoName { MemoName(.groupIntent, withUnsafeBytes(of: Int64(self.number).bigEndian) { Array($0) }) }
}

extension GroupID {
    /// Represents a group that does not exist yet. No group has this id: a Welcome with an empty id is refused.
    static let notYetCreated = GroupID([])
}

extension GroupIntent.Goal {
    /// The decision about a goal whose commit was displaced.
    enum Reconsidered: Equatable {
        /// The other commit has already achieved the goal.
        case reached
        case again(GroupIntent.Goal)
        /// The other commit made a different change to the same field, which stands.
        case overwritten
        /// The goal is deferred.
        case later
    }

    /// Decides whether a goal still makes sense after another commit displaced the one that was to reach it.
    func reconsidered(after report: CommitReport, in group: AccountGroup) -> Reconsidered {
        let members = Set(group.members)
        switch self {
        case .found: return .again(self)
        case .add(let peers):
            let missing = peers.filter { !members.contains($0) }
            return missing.isEmpty ? .reached : .again(.add(missing))
        case .remove(let peers):
            let left = peers.filter(members.contains)
            return left.isEmpty ? .reached : .again(.remove(left))
        case .set(let field):
            if field.isReached(in: report.after) { return .reached }
            return field.differs(report.before, report.after) ? .overwritten : .again(self)
        case .selfDemote: return group.isAdmin ? .again(self) : .reached
        case .upgrade: return group.requiresSelfRemove ? .reached : .again(self)
        case .selfUpdate(let isAutomatic): return isAutomatic ? .later : .again(self)
        // Members who still want to leave propose it again.
        case .commitDepartures: return group.dueDepartures.isEmpty ? .reached : .again(self)
        case .leave: return group.isActive ? .again(self) : .reached
        case .disband: return group.isActive ? .again(self) : .reached
        case .enableDisbanding: return .again(self)
        }
    }
}
