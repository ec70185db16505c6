import MLS
import Marmot
import Nostr

/// Treats a rolled-back state like a restored one: every group gets fresh keys before this account sends an event.
extension CoreModel {
    /// Reacts to a message of this account on a relay that this state never sent (``StateRollbackGuard``).
    mutating func receiveUnsentMessage(epoch: Epoch, of groupID: GroupID, _ step: inout CoreStep) {
        // That message's key counts as used.
        self.groups.markChanged(groupID)
        switch self.convergence.copies.phase(of: groupID) {
        case .reading, .renewing, .resealing, .overtaken: return
        // It was sent before the fresh keys, and read after them.
        case .renewed(let renewed) where epoch <= renewed: return
        case .renewed, nil: break
        }
        if self.convergence.detectStateRollback() { self.becomeCopy(&step) } else { self.markCopied(groupID, &step) }
        self.renewCopiedGroups(&step)
    }

    /// Becomes a new copy of the account, because the keys in this state, of groups and of key packages, were also used
    /// by the account after this state was saved.
    private mutating func becomeCopy(_ step: inout CoreStep) {
        self.convergence.becomeCopy(&step)
        let count = self.markAllCopied(&step)
        step.effects.append(.note(.stateRolledBack(groups: count)))
        self.announceCopyAgain(&step)
        self.retireKeyPackages(&step)
        guard self.configuration.publishesKeyPackage else { return }
        do { try self.publishKeyPackage(&step) } catch {
            step.effects.append(.note(.sendFailed(reason: "key package: \(error)")))
        }
    }
}
