import MLS
import Marmot
import Nostr

/// A change to a group that somebody asked for, kept until it is settled: across restarts, and when another member's
/// commit takes the place of the one that was to make it.
struct GroupIntent: Sendable {
    enum Goal: Sendable, Hashable {
        /// Found a group with these peers.
        case found(name: String, peers: [PublicKey], isDirect: Bool)
        case add([PublicKey])
        case remove([PublicKey])
        case set(GroupField)
        case selfDemote
        case upgrade
        /// Fresh keys for this account; automatic if nobody asked for them.
        case selfUpdate(isAutomatic: Bool)
        /// Execute the departures of others.
        case commitDepartures
        /// Leave the group.
        case leave

        /// Whether nobody asked for it, so that nobody is told of its failure.
        var isAutomatic: Bool { self == .commitDepartures || self == .selfUpdate(isAutomatic: true) }
    }

    enum Phase: Sendable, Hashable {
        case queued
        /// The peers' key packages are being looked for.
        case searching
        /// This commit is on its way.
        case committing(EventID)
        /// This commit was given up for another one, which is about to be taken in.
        case lost(EventID)
        /// A relay has this commit, which ended this epoch; a better one may still undo it.
        case settled(EventID, epoch: Epoch)
        /// This proposal asks the other members for it, in this epoch.
        case proposed(EventID, epoch: Epoch)

        var commit: EventID? {
            switch self {
            case .committing(let event), .lost(let event), .settled(let event, _): event
            case .queued, .searching, .proposed: nil
            }
        }
    }

    let number: Int
    /// ``GroupID/unfounded`` for a group that is still to be founded.
    let groupID: GroupID
    var goal: Goal
    /// What to do about peers that have no usable key package.
    var missing = MissingPeers.fail
    var phase = Phase.queued
    /// Who asked, in this run of the process; kept only if it is to be done once.
    var request: RequestID?
    /// The peers' key packages, once found.
    var invitees: [Invitee]?
    /// How often its commit lost against another one, or was rolled back.
    var losses = 0
    /// The peers that the caller goes on without, as far as this run of the process knows.
    var left: [PublicKey: LeftOut] = [:]

    /// Whether it is still to be done.
    var isOpen: Bool { if case .settled = self.phase { false } else { true } }

    var memo: MemoName { MemoName(.groupIntent, withUnsafeBytes(of: Int64(self.number).bigEndian) { Array($0) }) }
}

extension GroupID {
    /// Stands for a group that is still to be founded. No group has it: a Welcome with an empty id is refused.
    static let unfounded = GroupID([])
}

extension GroupIntent.Goal {
    /// What becomes of a goal whose commit was displaced.
    enum Reconsidered: Equatable {
        /// The other commit has done it.
        case reached
        case again(GroupIntent.Goal)
        /// The other commit did something else of the same kind: it counts.
        case overwritten
        /// It can wait.
        case later
    }

    /// Whether a goal still makes sense after another commit took the place of the one that was to reach it.
    func reconsidered(after report: CommitReport, in group: MarmotGroup) -> Reconsidered {
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
        // Those who still want to leave ask again.
        case .commitDepartures: return group.dueDepartures.isEmpty ? .reached : .again(self)
        case .leave: return group.isActive ? .again(self) : .reached
        }
    }
}
