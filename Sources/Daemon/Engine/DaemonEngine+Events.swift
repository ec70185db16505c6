import Logging
import Nostr
import PikaCore

/// Delivery of events to clients.
extension DaemonEngine {
    /// Records events and then sends them, before any later event.
    func announce(_ events: [DaemonEvent]) async {
        guard !events.isEmpty else { return }
        await self.eventLock.withLock { _ = await self.deliver(events, for: .none) }
    }

    /// Sends the events of a command, some of them before its reply and some after. All are recorded first, because a
    /// client that has the reply does not repeat the command.
    func announce(_ result: CommandResult, to client: DaemonClient, reply: () async -> Void) async {
        let events = result.events
        if client.origin == .program {
            // A program gets its events from the log, so an unread reply does not delay them.
            if !events.isEmpty {
                await self.eventLock.withLock { _ = await self.deliver(events, for: .command(result.place)) }
            }
            return await reply()
        }
        await self.eventLock.withLock {
            if events.isEmpty { return await reply() }
            let batch = await self.record(events, for: .command(result.place))
            let listeners = await self.append(batch)
            _ = await self.lines.write(result.before, from: batch.first, to: listeners)
            await reply()
            _ = await self.lines.write(result.after, from: batch.first + Int64(result.before.count), to: listeners)
        }
    }

    /// Sends the events that a core event causes. Completes the core event once the standard client's lines are
    /// written.
    func announce(_ events: [DaemonEvent], for event: CoreEvent) async {
        if !events.isEmpty {
            let isWritten = await self.eventLock.withLock { () -> Bool in
                await self.waitUntilWritten(await self.deliver(events, for: .event(event)))
            }
            // The core event is not completed, so the core delivers it again after the next start.
            guard isWritten else { return }
        }
        self.core.complete(event.inboxID, effects: [])
        self.requests.noteDelivered(event.inboxID)
    }

    /// Waits until the lines for the standard client are written. Once that client is gone, recording alone counts as
    /// delivery; otherwise every event would wait for it forever.
    ///
    /// - Parameter isAccepted: whether the client's queue accepted the lines.
    func waitUntilWritten(_ isAccepted: Bool) async -> Bool {
        if isAccepted, await self.standard.lines.flush() { return true }
        guard !self.isEnding, self.standard.lines.isClosed else { return false }
        if self.machine.loseStandard() {
            self.logger.warning("standard output is closed; events are recorded, and sent to socket clients only")
        }
        return true
    }

    /// Records and sends events. Returns whether the standard client's queue accepted all of them.
    private func deliver(_ events: [DaemonEvent], for cause: EventLog.Cause) async -> Bool {
        let batch = await self.record(events, for: cause)
        return await self.lines.write(events, from: batch.first, to: await self.append(batch))
    }

    /// Appends a stored batch to the log; returns the sessions that get its events live.
    private func append(_ batch: EventLog.Batch) async -> [ClientSessions.Session] {
        let (listeners, effects) = self.machine.append(batch, now: self.clock.nowMilliseconds)
        await self.perform(effects)
        return listeners
    }

    /// Sends a transient event: it has no cursor and is never replayed.
    func announceTransient(_ event: DaemonEvent) async {
        await self.lines.writeTransient(event, to: self.machine.clients.transientListeners)
    }

    // MARK: Events of the core

    func receive(_ event: CoreEvent) async {
        guard await self.waitForRoom() else {
            // During shutdown the event stays in the inbox; the core delivers it again after the next start.
            guard !self.isEnding else { return }
            DeadLetter.programFull.report(nil, to: self.logger)
            return self.core.complete(event.inboxID, effects: [])
        }
        switch self.machine.receive(event) {
        case .announce(let events): await self.announce(events, for: event)
        case .announceMessage(let message):
            await self.announce(await self.events(of: message, event.chatID), for: event)
        case .announceUpdate(let kind, let others):
            await self.announce(await self.updates(kind, event.chatID) + others, for: event)
        case .dropMessage:
            self.logger.warning("dropped a message: its sender is not allowed")
            await self.announce([], for: event)
        case .receiveCall(let refreshesState):
            if refreshesState {
                await self.refreshState()
                await self.announceCallChanges()
            }
            await self.announce([], for: event)
        case .hold: self.requests.noteDelivered(event.inboxID)
        }
    }

    /// Sends the event for a group that this account has joined.
    func announceJoin(_ event: CoreEvent) async {
        await self.announce(self.machine.joinEvents(event), for: event)
    }

    private func events(of message: MessageEvent, _ chatID: ChatID) async -> [DaemonEvent] {
        let attachments = await self.files.attachments(of: message, in: chatID)
        let received = self.machine.event(for: message, in: chatID, attachments)
        return message.kind == .metadata ? [received] + (await self.updates(.profileUpdated, chatID)) : [received]
    }

    /// Returns the event for a change of a group; empty if this account is no longer a member.
    private func updates(_ kind: DaemonGroupUpdate.Kind, _ chatID: ChatID) async -> [DaemonEvent] {
        guard let group = self.machine.groupIfKnown(chatID) else { return [] }
        let profiles = await self.core.profiles(in: group.chatID)
        return [self.machine.update(kind, of: group, profiles)]
    }

    // MARK: Changes of the state

    /// Sends pending invitations that have not been announced yet, and changes of the call.
    func announceStateChanges() async {
        let invites = self.machine.admittedInvites
        for invite in invites where self.machine.announce(invite) {
            await self.announce([.welcomeReceived(DaemonWelcome(invite))])
        }
        await self.announceCallChanges()
        await self.announceSignerChange()
        if self.machine.settings.acceptsWelcomes {
            for invite in invites where self.machine.memberships.shouldAutoAccept(invite.wrapper) {
                await self.autoAccept(invite.wrapper)
            }
        }
    }
}
