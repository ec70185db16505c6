import MLS
import Marmot
import Nostr

/// Sending messages, and effects requested by handlers.
extension CoreModel {
    /// Encrypts, stores and queues a message of this account. Returns nil if it has to wait for a decision about its
    /// group's history: the request then ends later.
    mutating func send(
        _ message: OutgoingMessage, toChat chatID: ChatID, rowID: String? = nil,
        purpose: OutboxRow.Purpose = .message, notBefore: UnixTime = 0, request: RequestID? = nil,
        _ step: inout CoreStep
    ) throws -> ActionOutcome? {
        let groupID = try self.groupID(ofChat: chatID)
        try self.requireMembership(in: groupID)
        var rumor = UnsignedEvent(
            pubkey: self.account.publicKey, createdAt: max(step.now, notBefore), kind: message.kind, tags: message.tags,
            content: message.content)
        if rumor.isTypingNotice { return try self.sendTyping(rumor, groupID, rowID: rowID, &step) }
        try self.assignTime(to: &rumor, in: groupID, notBefore: notBefore, step)
        guard !self.mustWait(in: groupID) else {
            try self.hold(
                HeldMessage(rumor: rumor, purpose: purpose, rowID: rowID, request: request), to: groupID, &step)
            return nil
        }
        return try self.sendSealed(rumor, to: groupID, rowID: rowID, purpose: purpose, &step)
    }

    /// Gives an inner event a time after those of this account's earlier messages in the chat, and an id that is new in its
    /// group: receivers identify a message by it. Throws if the burst is too far ahead of the clock for a new id.
    mutating func assignTime(
        to rumor: inout UnsignedEvent, in groupID: GroupID, notBefore: UnixTime = 0, _ step: CoreStep
    ) throws(AppCoreError) {
        let times = self.chats[groupID]?.times ?? OwnMessageTimes()
        rumor.createdAt = times.next(now: step.now, notBefore: notBefore)
        while self.inbound.seen.contains(self.messageKey(self.innerID(of: rumor, in: groupID), in: groupID)) {
            guard rumor.createdAt.seconds(since: step.now) < MessageTime.maximumLead else {
                throw AppCoreError(
                    .busy, "the same message was sent too often within a few minutes; send it again in a second")
            }
            // checked: UnixTime clamps, and the time is at most `maximumLead` ahead of the clock.
            rumor.createdAt += 1
        }
        let time = rumor.createdAt
        self.changeChat(groupID) { $0.times.assign(time) }
    }

    /// Encrypts, stores and queues an inner event, whose id is new.
    mutating func sendSealed(
        _ rumor: UnsignedEvent, to groupID: GroupID, rowID: String?, purpose: OutboxRow.Purpose,
        _ step: inout CoreStep
    ) throws -> ActionOutcome {
        let sealed = try self.seal(rumor, in: groupID, &step)
        guard let group = self.groups[groupID] else {
            throw AppCoreError(.unknownChat, "the group no longer exists")
        }
        let event = sealed.event
        let id = self.innerID(of: rumor, in: groupID)
        self.remember(self.messageKey(id, in: groupID), &step)
        self.changeChat(groupID) { $0.times.seal(rumor.createdAt) }
        self.delivery.noteSealed(id, in: groupID)
        let stored = StoredMessage(
            groupID: groupID, rumor: rumor, id: id, wrapper: event.id, epoch: sealed.epoch, isOwn: true,
            expiresAt: sealed.expiresAt, point: sealed.point)
        step.changes.append(.putMessage(stored))
        self.chats.registerExpiry(stored.expiresAt, &step)
        self.media.storeKeys(of: stored, &step)
        if rumor.kind == .metadata { self.receiveGroupProfile(stored, &step) }
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
}
