import Marmot
import Nostr

/// Sending messages, and effects requested by handlers.
extension CoreModel {
    /// Encrypts, stores and queues a message of this account.
    mutating func send(
        _ message: OutgoingMessage, toChat chatID: ChatID, rowID: String? = nil,
        purpose: OutboxRow.Purpose = .message, notBefore: UnixTime = 0, _ step: inout CoreStep
    ) throws -> ActionOutcome {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireMembership(in: groupID)
        var rumor = UnsignedEvent(
            pubkey: self.account.publicKey, createdAt: max(step.now, notBefore), kind: message.kind, tags: message.tags,
            content: message.content)
        if rumor.isTypingNotice { return try self.sendTyping(rumor, groupID, rowID: rowID, &step) }
        // Receivers identify a message by this id, so the same text sent twice within a second needs two ids.
        // checked: the time starts at most `maximumLead` ahead of the clock, and repeats within a second are few.
        while self.inbound.seen.contains(self.messageKey(rumor.id, in: groupID)) { rumor.createdAt += 1 }
        guard let event = try self.groups[groupID]?.seal(rumor, now: step.now, using: &step.random),
            let group = self.groups[groupID]
        else { throw AppCoreError(.unknownChat, "no chat has the id \(chatID)") }
        self.groups.markChanged(groupID)
        let id = rumor.id
        let key = self.messageKey(id, in: groupID)
        self.remember(key, &step)
        self.delivery.noteSealed(id, in: groupID)
        let stored = StoredMessage(
            groupID: groupID, rumor: rumor, id: id, wrapper: event.id, epoch: group.epoch, isOwn: true,
            expiresAt: group.data.expiry(of: rumor))
        step.changes.append(.putMessage(stored))
        self.chats.registerExpiry(stored.expiresAt, &step)
        self.media.storeKeys(of: stored, &step)
        if message.kind == .metadata { self.receiveGroupProfile(stored, &step) }
        self.show(stored, delivery: .pending, &step)
        if purpose == .message { self.expectNotification(of: stored) }
        self.enqueue(
            id: rowID ?? Delivery.messageRow(event.id), event,
            to: self.relays(of: group), purpose, groupID: groupID, messageID: id, &step)
        return .queued(messageID: id, wrapper: event.id)
    }

    /// Applies the effects of a handler and removes its event from the inbox, in one transaction.
    mutating func finish(_ inboxID: Int64, _ effects: [HandlerEffect], _ step: inout CoreStep) {
        guard self.inbox.finish(inboxID, &step) else { return }
        self.perform(effects, &step)
        self.inbox.handOut(self.configuration.retention, &step)
    }

    mutating func perform(_ effects: [HandlerEffect], _ step: inout CoreStep) {
        for effect in effects where self.delivery.queue.row(effect.id) == nil {
            do {
                switch effect.operation {
                case .send(let chatID, let message):
                    _ = try self.send(message, toChat: chatID, rowID: effect.id, &step)
                case .putValue(let scope, let key, let value):
                    step.changes.append(.putValue(scope: scope, key: key, value: value))
                case .dispatch(let action): self.reduce(.action(action, nil), &step)
                }
            } catch {
                step.effects.append(.note(.sendFailed(reason: "\(error)")))
            }
        }
    }
}
