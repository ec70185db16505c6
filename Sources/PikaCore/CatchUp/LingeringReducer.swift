import MLS
import Marmot
import Nostr

/// Groups that this account was removed from stay subscribed for a while: messages sent before may arrive late.
extension CoreModel {
    /// Seconds for which a group stays subscribed after the removal.
    static let lingeringTime: Int64 = 3600

    mutating func linger(_ groupID: GroupID, _ step: inout CoreStep) {
        self.catchUp.noteRemoval(from: groupID, &step)
        self.resumeLingering(groupID, &step)
        self.resubscribe(&step)
    }

    private mutating func resumeLingering(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let removedAt = self.catchUp.cursors.removedAt(groupID) else { return }
        self.convergence.linger(groupID)
        step.effects.append(
            .wake(
                .leave(groupID: groupID),
                atMilliseconds: (removedAt + Self.lingeringTime).milliseconds))
    }

    /// Resumes after a restart.
    mutating func resumeLingering(_ step: inout CoreStep) {
        for group in self.groups.values where !group.isActive {
            guard let removedAt = self.catchUp.cursors.removedAt(group.groupID),
                step.now < removedAt + Self.lingeringTime
            else { continue }
            self.resumeLingering(group.groupID, &step)
        }
    }

    mutating func stopLingering(_ groupID: GroupID, _ step: inout CoreStep) {
        guard self.convergence.stopLingering(groupID), self.groups[groupID]?.isActive == false else { return }
        self.resubscribe(&step)
    }
}
