import Nostr
import PikaCore

/// Where the record of events stands: what was told, under ascending numbers, for clients that come again.
///
/// The newest ``DaemonSettings/keptEvents`` are kept, in the core's durable values: `log` says where it stands, and
/// `log/N` holds an event each, N being its number modulo their count.
struct EventLog: Sendable {
    /// The number of the event that was told last; 0 before the first.
    var last: Int64 = 0
    /// Invitations that were told and wait still.
    var announced: Set<String> = []
    /// Numbers under which the core's latest events were recorded: after a crash they come again.
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

    /// What events are recorded for: if that comes again, they have the numbers that they have.
    enum Occasion {
        case nothing
        case event(CoreEvent)
        /// With an idempotency key, if it has a place.
        case command(ReplyPlace?)
    }

    /// Makes events durable. Returns the number of the first, and whether they were not recorded before.
    ///
    /// One at a time: the caller holds ``DaemonEngine/eventTurn``.
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

    /// Where events are that were recorded before.
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

    /// Beside a program other bots may be at work on an event for long after it was recorded, but on one of each chat:
    /// of those, the newest is remembered. A daemon handles one event after the other.
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

    /// The last record of a chat; earlier versions stored it under the nostrGroupID.
    private func newest(of chatID: String) async -> JSONObject? {
        if let known = await self.stored(Self.newestKey(chatID)) { return known }
        let earlier = self.state.nostrGroupID(ofChat: chatID)
        return earlier == chatID ? nil : await self.stored(Self.newestKey(earlier))
    }

    private static func newestKey(_ chatID: String) -> String { "newest/\(chatID)" }

    private func slot(of cursor: Int64) -> String { "log/\(cursor % self.settings.keptEvents)" }

    /// A message is recorded as where it is kept, so that it is gone here when it is gone there.
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

    /// The number of the oldest event that may still be there.
    var oldestCursor: Int64 { max(1, self.log.last - self.settings.keptEvents + 1) }

    /// An event as it was told; nil if it is not kept any more.
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

    /// A stored message; those of its second are looked through.
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
