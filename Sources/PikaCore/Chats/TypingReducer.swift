import MLS
import Marmot
import Nostr

/// Typing notices: sent at most every 5 s, shown for 10 s, neither stored nor repeated (docs/protocol/marmot.md §8.2).
extension CoreModel {
    /// Sends a notice that the user is typing in a chat, unless one was sent just before.
    mutating func startTyping(inChat chatID: ChatID, _ step: inout CoreStep) throws -> ActionOutcome {
        let groupID = try self.groupID(ofChat: chatID)
        let done = ActionOutcome.done(chatID: ChatID(groupID))
        guard self.chats.typing.maySend(to: groupID, step.nowMilliseconds) else { return done }
        let notice = OutgoingMessage(
            kind: .typing, content: "typing",
            tags: [Tag("d", "pika"), .expiration(at: step.now + TypingNotices.lifetime)])
        _ = try self.send(notice, toChat: chatID, &step)
        self.chats.typing.noteSent(to: groupID, step.nowMilliseconds)
        return done
    }

    /// Encrypts and enqueues a notice. It is lost with the process, and dropped if no relay accepts it soon.
    mutating func sendTyping(
        _ rumor: UnsignedEvent, _ groupID: GroupID, rowID: String?, _ step: inout CoreStep
    ) throws -> ActionOutcome {
        // A notice is useless once it has waited.
        guard !self.mustWait(in: groupID) else { return .done(chatID: ChatID(groupID)) }
        let event = try self.seal(rumor, in: groupID, &step).event
        guard let group = self.groups[groupID] else {
            throw AppCoreError(.unknownChat, "the group no longer exists")
        }
        let row = rowID ?? "typing/\(event.id.hex)"
        self.chats.typing.track(row: row, step.nowMilliseconds)
        self.enqueue(id: row, event, to: self.relays(of: group), .typing, groupID: groupID, &step)
        self.chats.typing.schedule(&step)
        return .queued(messageID: rumor.id, wrapper: event.id)
    }

    /// Applies another member's notice; a late one is ignored.
    mutating func receiveTyping(_ rumor: UnsignedEvent, of groupID: GroupID, _ step: inout CoreStep) {
        // A sender's clock that is ahead does not extend the notice.
        let end = min(rumor.createdAt, step.now) + TypingNotices.lifetime
        guard rumor.pubkey != self.account.publicKey, end > step.now, self.groups[groupID]?.isActive == true else {
            return
        }
        self.chats.typing.receive(rumor.pubkey, in: groupID, until: end)
        self.showTyping(in: groupID)
        self.chats.typing.schedule(&step)
    }

    /// Ends a member's typing state, since its message has arrived.
    mutating func stopTyping(_ member: PublicKey, in groupID: GroupID) {
        guard self.chats.typing.end(member, in: groupID) else { return }
        self.showTyping(in: groupID)
    }

    /// Drops expired typing states and notices.
    mutating func endTyping(_ step: inout CoreStep) {
        guard let (rows, groups) = self.chats.typing.wakeUp(step) else { return }
        for row in rows { self.dropTypingNotice(row, &step) }
        for groupID in groups { self.showTyping(in: groupID) }
        self.chats.typing.schedule(&step)
    }

    private mutating func dropTypingNotice(_ row: String, _ step: inout CoreStep) {
        guard self.delivery.removeTyping(row) else { return }
        self.countOutbox()
        self.flushOutbox(&step)
        step.effects.append(.note(.sendFailed(reason: "typing: no relay accepted it in time")))
    }

    /// Updates the typing members of the open chat if it is this group's; only current members are shown.
    mutating func showTyping(in groupID: GroupID) {
        guard self.chats.open?.groupID == groupID, let position = self.position(ofChat: groupID) else { return }
        let typing = self.chats.typing.members(of: groupID)
        let shown = self.state.chatList[position].members.filter { typing.contains($0.publicKey) }
        if self.state.currentChat?.typing != shown { self.state.currentChat?.typing = shown }
    }
}
