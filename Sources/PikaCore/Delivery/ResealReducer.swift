import MLS
import Marmot
import Nostr

/// Seals messages of this account again that others can no longer read: those of rolled-back epochs, and those that no
/// relay accepted for so long that members have dropped the keys. Members who already have them recognize them by their
/// inner ids.
extension CoreModel {
    /// Loads the messages sent in the abandoned epochs. A memo records the task until they are sealed again.
    mutating func startReseal(of groupID: GroupID, fromEpoch: Epoch, _ step: inout CoreStep) {
        self.delivery.beginReseal(of: groupID, fromEpoch: fromEpoch, &step)
        self.loadForReseal(of: groupID, &step)
    }

    mutating func restoreReseals(_ memos: [MemoName: Secret]) throws(AppCoreError) {
        for (name, content) in memos where name.kind == .reseal {
            guard self.quarantine.enter(name) else { continue }
            defer { self.quarantine.leave() }
            guard self.delivery.restoreReseal(of: GroupID(name.key), content) else {
                throw AppCoreError(.corruptState, "a stored epoch cannot be read")
            }
        }
    }

    /// Loads this account's recent messages after an epoch change if some that wait for a relay may be too old now.
    mutating func resealUnsent(of groupID: GroupID, _ step: inout CoreStep) {
        guard let epoch = self.groups[groupID]?.epoch else { return }
        self.delivery.loadSent(of: groupID, in: epoch, &step)
    }

    /// Seals messages again in the group's current epoch.
    mutating func reseal(_ messages: [StoredMessage], of groupID: GroupID, _ step: inout CoreStep) {
        let reseal = self.delivery.finishReseal(of: groupID, &step)
        guard let group = self.groups[groupID], group.isActive else { return }
        for message in messages.sorted(by: { $0.position < $1.position }) where message.isOwn {
            guard self.delivery.mustReseal(message, after: reseal, in: group.epoch),
                !Self.isMomentary(message.rumor.kind)
            else { continue }
            do { _ = try self.reseal(message, &step) } catch {
                step.effects.append(.note(.sendFailed(reason: "message after a rollback: \(error)")))
            }
        }
    }

    /// Whether an event of this kind is useless later.
    static func isMomentary(_ kind: Kind) -> Bool { kind == .typing || kind == .callSignal }

    /// Seals a message again. Returns the new event's id; nil if the group is gone.
    mutating func reseal(_ message: StoredMessage, _ step: inout CoreStep) throws -> EventID? {
        guard let event = try self.groups[message.groupID]?.seal(message.rumor, now: step.now, using: &step.random),
            let group = self.groups[message.groupID]
        else { return nil }
        self.groups.markChanged(message.groupID)
        let wasSent = self.delivery.wasSent(message.id, in: message.groupID)
        for row in self.delivery.queue.rows(ofMessage: message.id, in: message.groupID) { self.dropRow(row, &step) }
        self.delivery.forgetFailure(of: message.id, in: message.groupID, &step)
        self.changeShown(message.id, in: message.groupID) { $0.delivery = .pending }
        var moved = message
        moved.wrapper = event.id
        moved.epoch = group.epoch
        step.changes.append(.moveMessage(moved))
        if !MediaAttachment.references(in: message.rumor.tags).isEmpty {
            step.effects.append(
                .note(.sendFailed(reason: "files of a message were encrypted for an abandoned epoch")))
        }
        self.enqueue(
            id: Delivery.messageRow(event.id, again: wasSent), event, to: self.relays(of: group), .message,
            groupID: message.groupID, messageID: message.id, &step)
        return event.id
    }
}
