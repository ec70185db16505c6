import Nostr
import PikaCore

/// The durable logs: events for replay, and replies to commands with an idempotency key.
extension DaemonEngine {
    func restoreLogs() async {
        if let stored = await self.requests.stored(EventLog.key) { self.machine.log.restore(stored) }
        if let stored = await self.requests.stored(ReplyLog.key) { self.machine.replies.restore(stored) }
        if let stored = await self.requests.stored(ConsumedEvents.key) { self.machine.program.restore(stored) }
    }

    // MARK: Events

    /// Makes events durable, unless they were recorded for their cause before.
    ///
    /// Not reentrant: the caller holds ``DaemonEngine/eventLock``.
    func record(_ events: [DaemonEvent], for cause: EventLog.Cause) async -> EventLog.Batch {
        if let known = self.machine.log.known(events.count, for: cause) { return known }
        if let chatID = self.machine.log.chatOfRecord(cause), case .event(let event) = cause,
            let newest = await self.newestRecord(of: chatID),
            let known = self.machine.log.known(events.count, for: event, newest: newest)
        {
            return known
        }
        let batch = self.machine.log.prepare(events, for: cause, now: self.clock.nowMilliseconds)
        await self.requests.store(batch.entries)
        return batch
    }

    /// Returns the last record of a chat; earlier versions stored it under the nostrGroupID.
    private func newestRecord(of chatID: ChatID) async -> JSONObject? {
        if let known = await self.requests.stored(EventLog.newestKey(chatID)) { return known }
        let earlier = self.machine.nostrGroupID(of: chatID)
        guard earlier != chatID.rawValue else { return nil }
        return await self.requests.stored(EventLog.newestKey(ChatID(rawValue: earlier)))
    }

    /// Returns a recorded event; nil if it is no longer kept.
    func recorded(_ cursor: Int64) async -> DaemonEvent? {
        guard let entry = await self.requests.stored(self.machine.log.slot(of: cursor)),
            let stored = self.machine.log.read(cursor, from: entry, now: self.clock.nowMilliseconds)
        else { return nil }
        switch stored {
        case .event(let event): return event
        case .message(let chat, let id, let createdAt):
            guard let chatID = try? self.machine.state.chat(named: chat.rawValue)?.chatID ?? chat,
                let message = await self.core.message(id, createdAt: createdAt, in: chatID)
            else { return nil }
            let attachments = message.media.map {
                DaemonMessage.Attachment(file: $0, localPath: self.files.pathIfDownloaded($0))
            }
            return self.machine.event(for: message, createdAt: createdAt, in: chatID, attachments)
        }
    }

    /// Replays the events that a client has missed, then starts live delivery. A slow client delays the replay and is
    /// not dropped.
    func replay(to client: DaemonClient) async {
        guard var position = self.machine.clients.beginReplay(to: client) else { return }
        while !client.lines.isClosed {
            guard position < self.machine.log.last else { return self.machine.clients.goLive(client) }
            position += 1
            // A message stored by reference may be gone; the gap in the cursors shows that it existed.
            if let event = await self.recorded(position) { await client.lines.put(event.line(cursor: position)) }
        }
    }

    // MARK: Replies

    /// Executes a command unless its key was used before; then returns the stored reply.
    ///
    /// Errors are not stored: a repeated command is retried, without sending a message twice.
    func performOnce(_ request: DaemonRequest, for client: DaemonClient) async throws(DaemonFailure) -> CommandResult {
        try self.machine.clients.authorize(request.command, client)
        try await self.authorizeProgram(request, client)
        guard let key = request.idempotencyKey, request.command.isMutating, self.machine.clients.isExtended(client)
        else { return try await self.perform(request, key: nil, client) }
        var place = ReplyPlace(key: key, of: request)
        if let record = await self.requests.stored(place.name) {
            switch try ReplyLog.decide(place, record) {
            case .reply(let result): return CommandResult(result: result)
            case .execute(let known): place = known
            }
        } else {
            await self.reserve(place)
        }
        return try await self.perform(request, key: key, client).stored(at: place, by: self.requests)
    }

    private func reserve(_ place: ReplyPlace) async {
        let slot = self.machine.replies.reserve()
        let evicted = await self.requests.stored(slot.key)
        await self.requests.store(ReplyLog.entries(place, in: slot, evicting: evicted))
    }
}
