import Foundation
import Logging
import Metrics
import Nostr
import PikaCore

/// What happens, and who is told.
extension DaemonEngine {
    /// Records events and tells of them, in this order, before anything that comes later.
    func tell(_ events: [DaemonEvent]) async {
        guard !events.isEmpty else { return }
        await self.eventTurn.run { _ = await self.deliver(events, of: .nothing) }
    }

    /// Tells what belongs to a command, some of it before its reply and some after. All of it is recorded first: whoever
    /// has the reply does not ask again.
    func tell(of done: Done, to client: DaemonClient, reply: () async -> Void) async {
        let events = done.before + done.after
        if client.origin == .program {
            // It is told from the record, and one that does not read its replies holds no event up.
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

    /// Tells what an event of the core means; it is handled once the standard client's lines are written.
    func tell(_ events: [DaemonEvent], of event: CoreEvent) async {
        if !events.isEmpty {
            let isTold = await self.eventTurn.run { () -> Bool in
                await self.isTold(await self.deliver(events, of: .event(event)))
            }
            // It comes again after the next start.
            guard isTold else { return }
        }
        self.core.complete(event.inboxID, effects: [])
        self.noteTold(event.inboxID)
    }

    /// Waits until what the standard client was told is written. When it is gone and the daemon goes on, the record
    /// alone counts: otherwise everything would wait for somebody who never comes.
    ///
    /// - Parameter isTaken: whether its queue took the lines.
    func isTold(_ isTaken: Bool) async -> Bool {
        if isTaken, await self.standard.lines.flush() { return true }
        guard !self.isEnding, self.standard.lines.isClosed else { return false }
        if !self.hasLostStandard {
            self.hasLostStandard = true
            self.logger.warning("nobody reads standard output any more; events are recorded, and told on the socket")
        }
        return true
    }

    /// Returns whether the standard client's queue took everything.
    private func deliver(_ events: [DaemonEvent], of occasion: Occasion) async -> Bool {
        let (first, isNew) = await self.record(events, of: occasion)
        return await self.hand(events, first, to: self.listeners(from: first, events.count, isNew: isNew))
    }

    /// Who hears of events that were just recorded: whoever is not live now gets them from the log.
    private func listeners(from first: Int64, _ count: Int, isNew: Bool) -> [DaemonSession] {
        if isNew {
            self.log.last = first + Int64(count) - 1
            self.noteRecorded(after: first - 1)
        }
        return self.sessions.values.filter { session in
            switch session.client.origin {
            case .standard: session.isLive
            case .socket: isNew && (session.subscribes ? session.isLive : self.mayHear(session))
            // It is told from the record.
            case .program: false
            }
        }
    }

    /// Returns whether the standard client's queue took everything.
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

    /// Tells of what passes: it has no number, and nobody gets it again.
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

    // MARK: From the core

    func take(_ event: CoreEvent) async {
        guard await self.waitForRoom() else {
            // At the end it stays where it is, and comes again.
            guard !self.isEnding else { return }
            self.countDeadLetter(.programFull, nil)
            return self.core.complete(event.inboxID, effects: [])
        }
        switch event.content {
        case .message(let message): await self.tell(await self.events(of: message, in: event.chatID), of: event)
        case .commit(let commit): await self.tell(await self.events(of: commit, in: event.chatID), of: event)
        case .call(let call):
            // Whether the call is for the program is known only now.
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

    /// Tells of a group that was joined.
    func tellJoin(_ event: CoreEvent) async {
        await self.tell(self.groupIfThere(event.chatID).map { [.groupJoined($0)] } ?? [], of: event)
    }

    private func events(of message: MessageEvent, in chatID: String) async -> [DaemonEvent] {
        guard self.settings.admits(message.sender) else {
            self.logger.warning("a message was dropped: its sender is not allowed")
            return []
        }
        if message.isTyping { return [] }
        // Others can be read until one of them executes the departure, but the client was told `left`.
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

    /// The group as it is now, under a word for what changed; nil if this account is not in it any more.
    func update(_ kind: DaemonGroupUpdate.Kind, _ chatID: String) async -> DaemonGroupUpdate? {
        guard let group = self.groupIfThere(chatID) else { return nil }
        return DaemonGroupUpdate(
            kind: kind, nostrGroupID: group.nostrGroupID, group: group, profile: await self.profile(of: group))
    }

    func leftUpdate(_ chatID: String) -> DaemonGroupUpdate {
        DaemonGroupUpdate(kind: .left, nostrGroupID: self.state.nostrGroupID(ofChat: chatID))
    }

    // MARK: From the state

    /// Invitations that nobody was told of.
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
    /// Exactly as the apps send it (wire §8.0).
    fileprivate var isTyping: Bool {
        self.kind == .typing && self.content == "typing"
            && self.tags.contains { $0.values.starts(with: ["d", "pika"]) }
    }
}
