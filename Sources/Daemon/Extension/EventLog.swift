import Nostr
import PikaCore

/// Head of the event log: the events sent so far, under ascending cursors, for replay to clients that reconnect.
///
/// The newest ``DaemonSettings/keptEvents`` are kept in the core's durable values: `log` holds this head, and each
/// `log/N` one event, where N is its cursor modulo their count.
struct EventLog: Sendable {
    /// Cursor of the newest event; 0 before the first.
    var last: Int64 = 0
    /// Invitations that were announced and are still pending.
    var announced: Set<String> = []
    /// Cursors of the core's latest events, because the core delivers those again after a crash.
    var recorded: [(inboxID: Int64, cursor: Int64)] = []

    init() {}

    init(_ json: JSONObject) {
        self.last = json["last"]?.integer ?? 0
        self.announced = Set(json["announced"]?.array?.compactMap(\.string) ?? [])
        self.recorded = (json["recorded"]?.array ?? []).compactMap { pair in
            guard let numbers = pair.array?.compactMap(\.integer), numbers.count == 2 else { return nil }
            return (numbers[0], numbers[1])
        }
    }

    mutating func note(inboxID: Int64, cursor: Int64, keeping count: Int) {
        self.recorded.append((inboxID, cursor))
        if self.recorded.count > count { self.recorded.removeFirst() }
    }

    func json(last: Int64) -> JSONObject {
        [
            "last": .integer(last), "announced": .array(self.announced.sorted().map(JSONValue.string)),
            "recorded": .array(self.recorded.map { [.integer($0.inboxID), .integer($0.cursor)] }),
        ]
    }
}

extension DaemonEngine {
    static let logKey = "log"

    func restoreLogs() async {
        if let stored = await self.stored(Self.logKey) { self.log = EventLog(stored) }
        if let stored = await self.stored(ReplyLog.key) { self.replies = ReplyLog(stored) }
        if let stored = await self.stored(TakenEvents.key) { self.taken = TakenEvents(stored) }
    }

    /// The cause of recorded events. A repeated cause keeps the cursors of its first time.
    enum Occasion {
        case nothing
        case event(CoreEvent)
        /// A command; it has a place if it has an idempotency key.
        case command(ReplyPlace?)
    }

    /// Makes events durable. Returns the cursor of the first one, and whether they are new.
    ///
    /// Not reentrant: the caller holds ``DaemonEngine/eventTurn``.
    func record(_ events: [DaemonEvent], of occasion: Occasion) async -> (first: Int64, isNew: Bool) {
        if let known = await self.cursor(of: occasion) { return (known, false) }
        let first = self.log.last + 1
        var values = self.note(occasion, first)
        for (offset, event) in events.enumerated() {
            let cursor = first + Int64(offset)
            values.append((self.slot(of: cursor), self.entry(event, cursor)))
        }
        values.append((Self.logKey, self.log.json(last: first + Int64(events.count) - 1)))
        await self.store(values)
        return (first, true)
    }

    /// Returns the cursor of events that were recorded before.
    private func cursor(of occasion: Occasion) async -> Int64? {
        switch occasion {
        case .nothing: return nil
        case .command(let place): return place?.cursor
        case .event(let event):
            if let known = self.log.recorded.first(where: { $0.inboxID == event.inboxID }) { return known.cursor }
            guard self.settings.program != nil, let known = await self.newest(of: event.chatID),
                known["inbox"]?.integer == event.inboxID
            else { return nil }
            return known["cursor"]?.integer
        }
    }

    /// Remembers the cursor for a cause. With a program, other bots may still be handling an event long after it was
    /// recorded, but only one per chat, so the newest one of each chat is remembered. A daemon without a program
    /// handles one event at a time.
    private func note(_ occasion: Occasion, _ cursor: Int64) -> [(key: String, value: JSONObject?)] {
        switch occasion {
        case .nothing, .command(nil): return []
        case .command(let place?):
            return [(place.name, ["of": .string(place.fingerprint), "cursor": .integer(cursor)])]
        case .event(let event) where self.settings.program != nil:
            let value: JSONObject = ["inbox": .integer(event.inboxID), "cursor": .integer(cursor)]
            return [(Self.newestKey(event.chatID), value)]
        case .event(let event):
            self.log.note(inboxID: event.inboxID, cursor: cursor, keeping: self.settings.rememberedEvents)
            return []
        }
    }

    /// Returns the last record of a chat; earlier versions stored it under the nostrGroupID.
    private func newest(of chatID: String) async -> JSONObject? {
        if let known = await self.stored(Self.newestKey(chatID)) { return known }
        let earlier = self.state.nostrGroupID(ofChat: chatID)
        return earlier == chatID ? nil : await self.stored(Self.newestKey(earlier))
    }

    private static func newestKey(_ chatID: String) -> String { "newest/\(chatID)" }

    private func slot(of cursor: Int64) -> String { "log/\(cursor % self.settings.keptEvents)" }

    /// Returns the log entry of an event. Messages are stored by reference, so that deleting the message also deletes
    /// it here.
    private func entry(_ event: DaemonEvent, _ cursor: Int64) -> JSONObject {
        var entry: JSONObject = ["c": .integer(cursor), "t": .integer(self.clock.nowMilliseconds)]
        if case .messageReceived(let message) = event {
            entry["m"] = [
                "chat": .string(message.chatID), "id": .string(message.id.hex), "at": .integer(message.createdAt),
            ]
        } else {
            entry["e"] = .object(event.json)
        }
        return entry
    }

    /// Cursor of the oldest event that may still be in the log.
    var oldestCursor: Int64 { max(1, self.log.last - self.settings.keptEvents + 1) }

    /// Returns a recorded event; nil if it is no longer kept.
    func recorded(_ cursor: Int64) async -> DaemonEvent? {
        guard let entry = await self.stored(self.slot(of: cursor)), entry["c"]?.integer == cursor,
            let time = entry["t"]?.integer, self.clock.nowMilliseconds - time <= self.settings.keptFor
        else { return nil }
        if let event = entry["e"]?.object { return .recorded(event) }
        // Earlier versions recorded the nostrGroupID.
        guard let message = entry["m"], let chat = message["chat"]?.string, let createdAt = message["at"]?.integer,
            let id = message["id"]?.string.flatMap({ try? EventID(hex: $0) }),
            let chatID = try? self.state.chat(named: chat)?.chatID ?? chat,
            let stored = await self.message(id, createdAt: createdAt, in: chatID)
        else { return nil }
        return .messageReceived(
            DaemonMessage(
                chatID: chatID, nostrGroupID: self.state.nostrGroupID(ofChat: chatID), id: id,
                sender: stored.rumor.pubkey, kind: stored.rumor.kind,
                content: stored.rumor.content, createdAt: createdAt,
                media: stored.media.map {
                    DaemonMessage.Attachment(file: $0, localPath: self.pathIfDownloaded($0))
                }, tags: stored.rumor.tags))
    }

    /// Returns a stored message; searches the messages of its second.
    func message(_ id: EventID, createdAt: Int64, in chatID: String) async -> StoredMessage? {
        let (next, overflows) = createdAt.addingReportingOverflow(1)
        guard !overflows, let lowest = try? EventID(bytes: [UInt8](repeating: 0, count: 32)) else { return nil }
        var before = StoredMessage.Position(createdAt: next, id: lowest)
        while let page = try? await self.core.messages(chatID: chatID, before: before, limit: 20), let last = page.last
        {
            if let found = page.first(where: { $0.id == id }) { return found }
            guard last.position.createdAt == createdAt else { return nil }
            before = last.position
        }
        return nil
    }
}
