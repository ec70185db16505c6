import MLS
import Marmot
import Nostr

/// Groups that this account was removed from stay subscribed for a while: messages sent before may arrive late.
extension CoreModel {
    /// Seconds for which a group stays subscribed after the removal.
    static let lingeringTime: Int64 = 3600
    /// Milliseconds before another attempt to delete the secrets of a group in which a pass is open.
    private static let retirementDelay: Int64 = 10_000

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
            else {
                self.retire(group.groupID, &step)
                continue
            }
            self.resumeLingering(group.groupID, &step)
        }
    }

    mutating func stopLingering(_ groupID: GroupID, _ step: inout CoreStep) {
        let wasLingering = self.convergence.stopLingering(groupID)
        guard self.groups[groupID]?.isActive == false else { return }
        if wasLingering { self.resubscribe(&step) }
        self.retire(groupID, &step)
    }

    /// Deletes the secrets and retained states of a group of the second generation, once no late message of it is awaited.
    /// Its chat stays, and another invitation leads back.
    private mutating func retire(_ groupID: GroupID, _ step: inout CoreStep) {
        guard let group = self.groups[second: groupID], !group.isActive, !group.isRetired else { return }
        // After another removal in the meantime its own timer follows.
        if let removedAt = self.catchUp.cursors.removedAt(groupID), step.now < removedAt + Self.lingeringTime { return }
        guard self.groups[second: groupID]?.retire() == true else {
            step.effects.append(
                .wake(.leave(groupID: groupID), atMilliseconds: step.nowMilliseconds + Self.retirementDelay))
            return
        }
        self.groups.markChanged(groupID)
        // An invitation must not lead back to them, although the group cannot compare them any more.
        for state in group.convergence.readableStates { self.remember(Self.stateKey(state.group), &step) }
        self.settlement.reset(groupID, &step)
        self.settlement.withdrawals.forgetMessages(of: groupID, &step)
        if let group = self.groups[groupID] { self.media.note(group) }
    }

    /// Returns the key in ``SeenEvents`` of a state that this account was in.
    static func stateKey(_ group: ComponentGroup) -> EventID {
        SeenEvents.key(SHA256Derivation.digest(group.mls.epochAuthenticator.copyBytes()))
    }
}
