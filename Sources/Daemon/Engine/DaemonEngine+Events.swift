import Foundation
import Logging
import Metrics
import Nostr
import PikaCore

/// Delivery of events to clients.
extension DaemonEngine {
    /// Records events and then sends them, before any later event.
    func tell(_ events: [DaemonEvent]) async {
        guard !events.isEmpty else { return }
        await self.eventTurn.run { _ = await self.deliver(events, of: .nothing) }
    }

    /// Sends the events of a command, some of them before its reply and some after. All are recorded first, because a
    /// client that has the reply does not repeat the command.
    func tell(of done: Done, to client: DaemonClient, reply: () async -> Void) async {
        let events = done.before + done.after
        if client.origin == .program {
            // A program gets its events from the log, so an unread reply holds up no event.
            if !events.isEmpty {
                await self.eventTurn.run { _ = await self.deliver(events, of: .command(done.place)) }
            }
            return await reply()
        }
        await self.eventTurn.run {
            if events.isEmpty { return await reply() }
            let (first, isNew) = await self.record(events, of: .command(done.place))
            let listeners = self.listeners(from: first, events.count, isNew: isNew)
            _ = await self.hand(done.before, first, to: listeners)
            await reply()
            _ = await self.hand(done.after, first + Int64(done.before.count), to: listeners)
        }
    }

    /// Sends the events that an event of the core leads to. Completes the core's event once the standard client's lines
    /// are written.
    func tell(_ events: [DaemonEvent], of event: CoreEvent) async {
        if !events.isEmpty {
            let isTold = await self.eventTurn.run { () -> Bool in
                await self.isTold(await self.deliver(events, of: .event(event)))
            }
            // The core delivers it again after the next start.
            guard isTold else { return }
        }
        self.core.complete(event.inboxID, effects: [])
        self.noteTold(event.inboxID)
    }

    /// Waits until the lines for the standard client are written. Once that client is gone, recording alone counts as
    /// delivery; otherwise every event would wait for it forever.
    ///
    /// - Parameter isTaken: whether the client's queue accepted the lines.
    func isTold(_ isTaken: Bool) async -> Bool {
        if isTaken, await self.standard.lines.flush() { return true }
        guard !self.isEnding, self.standard.lines.isClosed else { return false }
        if !self.hasLostStandard {
            self.hasLostStandard = true
            self.logger.warning("nobody reads standard output any more; events are recorded, and told on the socket")
        }
        return true
    }

    /// Records and sends events. Returns whether the standard client's queue accepted all of them.
    private func deliver(_ events: [DaemonEvent], of occasion: Occasion) async -> Bool {
        let (first, isNew) = await self.record(events, of: occasion)
        return await self.hand(events, first, to: self.listeners(from: first, events.count, isNew: isNew))
    }

    /// Returns the sessions that get the events live; the others read them from the log.
    private func listeners(from first: Int64, _ count: Int, isNew: Bool) -> [DaemonSession] {
        if isNew {
            self.log.last = first + Int64(count) - 1
            self.noteRecorded(after: first - 1)
        }
        return self.sessions.values.filter { session in
            switch session.client.origin {
            case .standard: session.isLive
            case .socket: isNew && (session.subscribes ? session.isLive : self.mayHear(session))
            // Programs read them from the log.
            case .program: false
            }
        }
    }

    /// Sends events to sessions. Returns whether the standard client's queue accepted all of them.
    private func hand(_ events: [DaemonEvent], _ first: Int64, to listeners: [DaemonSession]) async -> Bool {
        var standardLines: [String] = []
        for (offset, event) in events.enumerated() {
            Counter(label: "daemon_events_total", dimensions: [("type", event.type)]).increment()
            let cursor = first + Int64(offset)
            for session in listeners {
                let line = { event.line(cursor: session.isExtended ? cursor : nil) }
                if session.client.origin == .standard {
                    standardLines.append(line())
                } else if session.subscribes || event.isGroupUpdate {
                    self.offer(line(), to: session.client)
                }
            }
        }
        var isTaken = true
        for line in standardLines { isTaken = await self.standard.lines.put(line) }
        return isTaken
    }

    /// Sends a transient event: it has no cursor and is never replayed.
    func tellPassing(_ event: DaemonEvent) async {
        Counter(label: "daemon_events_total", dimensions: [("type", event.type)]).increment()
        let line = event.line()
        for session in self.sessions.values where session.isLive {
            switch session.client.origin {
            case .standard: break
            case .socket: self.offer(line, to: session.client)
            case .program: session.client.lines.offer(line)
            }
        }
        await self.standard.lines.put(line)
    }

    private func mayHear(_ session: DaemonSession) -> Bool { !self.settings.requiresToken || session.scope != nil }

    // MARK: Events of the core

    func take(_ event: CoreEvent) async {
        guard await self.waitForRoom() else {
            // During the shutdown it stays in the inbox; the core delivers it again after the next start.
            guard !self.isEnding else { return }
            self.countDeadLetter(.programFull, nil)
            return self.core.complete(event.inboxID, effects: [])
        }
        switch event.content {
        case .message(let message): await self.tell(await self.events(of: message, in: event.chatID), of: event)
        case .commit(let commit): await self.tell(await self.events(of: commit, in: event.chatID), of: event)
        case .call(let call):
            // Only now is it known whether the call is for the program.
            if self.settings.program != nil {
                await self.refreshState()
                await self.tellCallNews()
            }
            await self.tell(self.events(of: call, in: event.chatID), of: event)
        case .joined:
            guard !self.isAccepting else {
                self.heldJoins.append(event)
                return self.noteTold(event.inboxID)
            }
            await self.tellJoin(event)
        }
    }

    /// Sends the event for a group that this account has joined.
    func tellJoin(_ event: CoreEvent) async {
        await self.tell(self.groupIfThere(event.chatID).map { [.groupJoined($0)] } ?? [], of: event)
    }

    private func events(of message: MessageEvent, in chatID: String) async -> [DaemonEvent] {
        guard self.settings.admits(message.sender) else {
            self.logger.warning("a message was dropped: its sender is not allowed")
            return []
        }
        if message.isTyping { return [] }
        // The group stays readable until another member commits the departure, but the client has already been sent
        // `left`.
        guard !self.state.chatList.contains(where: { $0.chatID == chatID && $0.endReason == .left }) else { return [] }
        let attachments = await self.attachments(of: message, in: chatID)
        let told = DaemonEvent.messageReceived(
            DaemonMessage(
                chatID: chatID, nostrGroupID: self.state.nostrGroupID(ofChat: chatID), id: message.id,
                sender: message.sender, kind: message.kind, content: message.content, createdAt: message.createdAt,
                media: attachments, tags: message.tags))
        guard message.kind == .metadata, let update = await self.update(.profileUpdated, chatID) else { return [told] }
        return [told, .groupUpdated(update)]
    }

    private func events(of commit: CommitEvent, in chatID: String) async -> [DaemonEvent] {
        if commit.removedSelf {
            let isKnown = self.departed.remove(chatID) != nil
            return isKnown ? [] : [.groupUpdated(self.leftUpdate(chatID))]
        }
        if commit.isOwn, self.changing.contains(chatID) { return [] }
        let kind: DaemonGroupUpdate.Kind
        switch (commit.added.count, commit.removed.count) {
        case (0, 0): return []
        case (let added, let removed): kind = added >= removed ? .membersAdded : .membersRemoved
        }
        return await self.update(kind, chatID).map { [.groupUpdated($0)] } ?? []
    }

    /// Returns the group's current state with the kind of its change; nil if this account is no longer a member.
    func update(_ kind: DaemonGroupUpdate.Kind, _ chatID: String) async -> DaemonGroupUpdate? {
        guard let group = self.groupIfThere(chatID) else { return nil }
        return DaemonGroupUpdate(
            kind: kind, nostrGroupID: group.nostrGroupID, group: group, profile: await self.profile(of: group))
    }

    func leftUpdate(_ chatID: String) -> DaemonGroupUpdate {
        DaemonGroupUpdate(kind: .left, nostrGroupID: self.state.nostrGroupID(ofChat: chatID))
    }

    // MARK: Changes of the state

    /// Sends pending invitations that have not been announced yet.
    func tellNews() async {
        let invites = self.state.invites.filter { self.settings.admits($0.inviter) }
        for invite in invites where !self.log.announced.contains(invite.wrapper.hex) {
            self.log.announced = self.log.announced.intersection(self.state.invites.map(\.wrapper.hex))
            self.log.announced.insert(invite.wrapper.hex)
            await self.tell([.welcomeReceived(DaemonWelcome(invite))])
        }
        await self.tellCallNews()
        if self.settings.acceptsWelcomes {
            for invite in invites where self.autoAccepted.insert(invite.wrapper).inserted {
                await self.acceptUnasked(invite.wrapper)
            }
        }
    }
}

extension MessageEvent {
    /// Whether the message is a typing indicator, exactly as the apps send it (wire §8.0).
    fileprivate var isTyping: Bool {
        self.kind == .typing && self.content == "typing"
            && self.tags.contains { $0.values.starts(with: ["d", "pika"]) }
    }
}
