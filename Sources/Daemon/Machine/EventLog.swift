import Nostr
import PikaCore

/// The event log: the events sent so far, under ascending cursors, for replay to clients that reconnect. Pure.
///
/// The newest ``DaemonSettings/keptEvents`` events are kept in the core's durable values: `log` holds the head (newest
/// cursor, announced invitations, recorded core events), and each `log/N` one event, where N is its cursor modulo
/// ``DaemonSettings/keptEvents``.
struct EventLog: Sendable {
    /// A durable value; nil deletes it.
    typealias Entry = (key: String, value: JSONObject?)

    /// The cause of recorded events. If a cause recurs, its events keep their first cursors.
    enum Cause: Sendable {
        case none
        case event(CoreEvent)
        /// A command; it has a place if it has an idempotency key.
        case command(ReplyPlace?)
    }

    /// Events with their cursors.
    struct Batch: Sendable {
        /// Cursor of the first event.
        let first: Int64
        let count: Int
        /// Whether the events were not recorded before.
        let isNew: Bool
        /// The values to store.
        var entries: [Entry] = []

        var last: Int64 { self.first + Int64(self.count) - 1 }
    }

    /// A recorded event as it is stored.
    enum Stored: Sendable {
        case event(DaemonEvent)
        /// A message, stored by reference. Earlier versions stored the nostrGroupID as its chat.
        case message(chat: ChatID, id: EventID, createdAt: UnixTime)
    }

    /// Key of the head.
    static let key = "log"

    private let capacity: Int64
    private let retentionMilliseconds: Int64
    private let rememberedEvents: Int
    /// Whether the log serves a program.
    private let isPerChat: Bool
    /// Cursor of the newest event; 0 before the first.
    private(set) var last: Int64 = 0
    /// Invitations that were announced and are still pending.
    private var announced: Set<String> = []
    /// Cursors of the core's latest events, because the core delivers those again after a crash.
    private var recorded: [(inboxID: Int64, cursor: Int64)] = []

    init(_ settings: DaemonSettings) {
        self.capacity = settings.keptEvents
        self.retentionMilliseconds = settings.keptFor
        self.rememberedEvents = settings.rememberedEvents
        self.isPerChat = settings.program != nil
    }

    mutating func restore(_ stored: JSONObject) {
        self.last = stored["last"]?.integer ?? 0
        self.announced = Set(stored["announced"]?.array?.compactMap(\.string) ?? [])
        self.recorded = (stored["recorded"]?.array ?? []).compactMap { pair in
            guard let numbers = pair.array?.compactMap(\.integer), numbers.count == 2 else { return nil }
            return (numbers[0], numbers[1])
        }
    }

    // MARK: Recording

    /// Returns the batch of events that were recorded for the cause before.
    func known(_ count: Int, for cause: Cause) -> Batch? {
        let cursor: Int64? =
            switch cause {
            case .none: nil
            case .command(let place): place?.cursor
            case .event(let event): self.recorded.first { $0.inboxID == event.inboxID }?.cursor
            }
        return cursor.map { Batch(first: $0, count: count, isNew: false) }
    }

    /// Returns the batch of events that were recorded for the cause before, according to the newest record of its
    /// chat.
    func known(_ count: Int, for event: CoreEvent, newest: JSONObject) -> Batch? {
        guard newest["inbox"]?.integer == event.inboxID, let cursor = newest["cursor"]?.integer else { return nil }
        return Batch(first: cursor, count: count, isNew: false)
    }

    /// Returns the chat or feed whose newest record tells whether the cause was recorded before; nil if no such record is kept.
    func chatOfRecord(_ cause: Cause) -> ChatID? {
        guard self.isPerChat, case .event(let event) = cause else { return nil }
        return Self.place(of: event)
    }

    /// Assigns cursors to events. They are in the log once their entries are stored, by ``append(_:)``.
    mutating func prepare(_ events: [DaemonEvent], for cause: Cause, now: Int64) -> Batch {
        var batch = Batch(first: self.last + 1, count: events.count, isNew: true)
        batch.entries = self.remember(cause, batch.first)
        for (offset, event) in events.enumerated() {
            let cursor = batch.first + Int64(offset)
            batch.entries.append((self.slot(of: cursor), Self.entry(event, cursor, now: now)))
        }
        batch.entries.append((Self.key, self.head(last: batch.last)))
        return batch
    }

    /// Appends a stored batch; returns the cursor of the newest event before it.
    mutating func append(_ batch: Batch) -> Int64 {
        self.last = batch.last
        return batch.first - 1
    }

    /// Remembers the cursor for a cause. With a program, other bots may still be handling an event long after it was
    /// recorded, but only one per chat, so the newest one of each chat is remembered. A daemon without a program
    /// handles one event at a time.
    private mutating func remember(_ cause: Cause, _ cursor: Int64) -> [Entry] {
        switch cause {
        case .none, .command(nil): return []
        case .command(let place?):
            return [(place.name, ["of": .string(place.fingerprint), "cursor": .integer(cursor)])]
        case .event(let event) where self.isPerChat:
            let value: JSONObject = ["inbox": .integer(event.inboxID), "cursor": .integer(cursor)]
            return [(Self.newestKey(Self.place(of: event)), value)]
        case .event(let event):
            self.recorded.append((event.inboxID, cursor))
            if self.recorded.count > self.rememberedEvents { self.recorded.removeFirst() }
            return []
        }
    }

    /// Returns the chat that an event is remembered under; a feed counts as a chat of its own.
    private static func place(of event: CoreEvent) -> ChatID { ChatID(rawValue: event.lane) }

    private func head(last: Int64) -> JSONObject {
        [
            "last": .integer(last), "announced": .array(self.announced.sorted().map(JSONValue.string)),
            "recorded": .array(self.recorded.map { [.integer($0.inboxID), .integer($0.cursor)] }),
        ]
    }

    /// Returns the log entry of an event. Messages are stored by reference, so that deleting the message also deletes
    /// it here.
    private static func entry(_ event: DaemonEvent, _ cursor: Int64, now: Int64) -> JSONObject {
        var entry: JSONObject = ["c": .integer(cursor), "t": .integer(now)]
        if case .messageReceived(let message) = event {
            entry["m"] = [
                "chat": .string(message.chatID.rawValue), "id": .string(message.id.hex),
                "at": .integer(message.createdAt.seconds),
            ]
        } else {
            entry["e"] = .object(event.json)
        }
        return entry
    }

    /// Notes an invitation; returns false if it was announced before.
    ///
    /// - Parameter pending: all pending invitations; the log forgets announced ones that are no longer pending.
    mutating func announce(_ invitation: EventID, pending: [EventID]) -> Bool {
        guard !self.announced.contains(invitation.hex) else { return false }
        self.announced.formIntersection(pending.map(\.hex))
        self.announced.insert(invitation.hex)
        return true
    }

    // MARK: Reading

    /// Cursor of the oldest event that may still be in the log.
    var oldest: Int64 { max(1, self.last - self.capacity + 1) }

    func slot(of cursor: Int64) -> String { "log/\(cursor % self.capacity)" }

    static func newestKey(_ chatID: ChatID) -> String { "newest/\(chatID)" }

    /// Reads the entry in an event's slot; returns nil if the event is no longer kept.
    func read(_ cursor: Int64, from entry: JSONObject, now: Int64) -> Stored? {
        guard entry["c"]?.integer == cursor, let time = entry["t"]?.integer, now - time <= self.retentionMilliseconds
        else { return nil }
        if let event = entry["e"]?.object { return .event(.recorded(event)) }
        guard let message = entry["m"], let chat = message["chat"]?.string,
            let createdAt = message["at"]?.integer.map({ UnixTime($0) }),
            let id = message["id"]?.string.flatMap({ try? EventID(hex: $0) })
        else { return nil }
        return .message(chat: ChatID(rawValue: chat), id: id, createdAt: createdAt)
    }
}
