import MLS
import Marmot
import Nostr

/// Messages that leave the history of their group with their branch, and come back with it: announced to handlers, hidden
/// and shown in the open chat; this account's own ones are sent again, or count as failed (``ResendRefusal``).
extension CoreModel {
    /// Continues an announcement after the messages of its points were loaded.
    mutating func receiveWithdrawn(
        _ messages: [StoredMessage], at points: [Bytes32], of groupID: GroupID, _ step: inout CoreStep
    ) {
        guard let (task, reverted) = self.settlement.withdrawals.task(points, of: groupID) else { return }
        let messages = messages.sorted { $0.position < $1.position }
        if !task.isAnnounced { self.announce(messages, isRestored: task.isRestored, of: groupID, &step) }
        let gone = messages.filter { message in !(message.point.map(reverted.contains) ?? false) }
        let own = task.isRestored ? [] : gone.filter(self.mustRepeat(step.now))
        if task.isRestored { for message in messages where message.isOwn { self.noteReturned(message, &step) } }
        let isWaiting = !own.isEmpty && self.holdsMessages(of: groupID)
        self.settlement.withdrawals.end(points, of: groupID, isWaiting: isWaiting, &step)
        guard !isWaiting else { return }
        if self.groups[groupID]?.isActive == true, !self.hasLeft(groupID) {
            self.sendAgain(own, of: groupID, &step)
        } else {
            for message in own { self.noteLost(message, .membershipEnded, &step) }
        }
    }

    /// Returns whether a message by this account is sent again when its branch is withdrawn.
    private func mustRepeat(_ now: UnixTime) -> (StoredMessage) -> Bool {
        { $0.isOwn && !Self.isMomentary($0.rumor.kind) && $0.expiresAt ?? .distantFuture > now }
    }

    private mutating func announce(
        _ messages: [StoredMessage], isRestored: Bool, of groupID: GroupID, _ step: inout CoreStep
    ) {
        let others = messages.filter { !$0.isOwn && !Self.isMomentary($0.rumor.kind) }
        if isRestored {
            let back = self.settlement.withdrawals.revive(others.map(\.id), of: groupID, &step)
            for message in others where back.contains(message.id) { self.announceRestored(message, &step) }
            return
        }
        self.settlement.withdrawals.noteGone(others.map(\.id), of: groupID, &step)
        for message in others {
            self.deliver(.withdrawn(WithdrawnEvent(message, isRestored: false)), of: groupID, &step)
        }
        guard self.chats.open?.groupID == groupID else { return self.forgetPreviews(of: others, groupID) }
        let gone = Set(others.map(\.id))
        self.dropShown { gone.contains($0.id) }
        self.forgetPreviews(of: others, groupID)
    }

    private mutating func announceRestored(_ message: StoredMessage, _ step: inout CoreStep) {
        self.deliver(.withdrawn(WithdrawnEvent(message, isRestored: true)), of: message.groupID, &step)
        guard self.chats.open?.groupID == message.groupID, self.groups[message.groupID]?.isActive == true,
            self.chats.open?.oldestRead.map({ $0 <= message.position }) ?? true
        else { return }
        self.append(message, .received)
    }

    /// Removes the preview of a chat whose last message was withdrawn.
    private mutating func forgetPreviews(of messages: [StoredMessage], _ groupID: GroupID) {
        guard let record = self.chats[groupID], let last = record.lastMessage,
            messages.contains(where: { $0.time == record.lastMessageAt && Self.preview(of: $0.rumor) == last })
        else { return }
        self.changeChat(groupID) { record in
            record.lastMessage = nil
            record.lastMessageExpiresAt = nil
        }
    }

    /// Handles a message that its author sent again on the branch that won: the withdrawn one comes back. Returns false
    /// for any other repetition.
    mutating func revive(_ message: StoredMessage, _ step: inout CoreStep) -> Bool {
        // Has an effect only if the stored message is withdrawn.
        step.changes.append(.reviveMessage(message))
        guard !message.isOwn,
            !self.settlement.withdrawals.revive([message.id], of: message.groupID, &step).isEmpty
        else { return false }
        self.announceRestored(message, &step)
        return true
    }
}

extension WithdrawnEvent {
    init(_ message: StoredMessage, isRestored: Bool) {
        self.init(
            id: message.id, sender: message.rumor.pubkey, kind: message.rumor.kind, epoch: message.epoch.rawValue,
            wrapper: message.wrapper, isRestored: isRestored)
    }
}
