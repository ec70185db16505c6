import MLS
import Nostr

/// The durable queue of events for handlers: stored until a handler has finished them, or until they exceed their
/// retention (``RetentionPolicy``). Also keeps the outcomes of idempotent actions: a handler that runs again acts once.
struct HandlerInbox: Sendable {
    /// The number of rows that one transaction deletes.
    static let retentionBatch = 256
    private static let cursor = "inbox-id"

    private var events = Inbox()
    private(set) var lastID: Int64
    private var outcomes = IdempotentOutcomes()
    var feeds = RecentFeedItems()

    /// - Parameter rows: the stored rows, whose events are restored by ``restore(_:bytes:)``.
    init(cursors: [String: Int64], rows: [InboxRow]) {
        self.lastID = max(cursors[Self.cursor] ?? 0, rows.map(\.id).max() ?? 0)
    }

    var count: Int { self.events.count }
    var isEmpty: Bool { self.events.isEmpty }
    /// The number of events handed out to handlers.
    var handedOutCount: Int { self.events.handedOutCount }
    var ids: [Int64] { self.events.ids }
    var oldestArrival: UnixTime? { self.events.oldestArrival }

    mutating func restore(_ event: CoreEvent, bytes: Int) { self.events.add(event, bytes: bytes) }

    /// Appends and stores an event.
    mutating func append(
        _ content: CoreEvent.Content, chatID: ChatID, _ retention: RetentionPolicy, _ step: inout CoreStep
    ) {
        self.lastID += 1
        let event = CoreEvent(inboxID: self.lastID, chatID: chatID, receivedAt: step.now, content: content)
        let row = InboxRow(id: event.inboxID, payload: event.payload)
        self.events.add(event, bytes: row.payload.count)
        step.changes.append(.putInbox(row))
        step.changes.append(.advanceCursor(name: Self.cursor, to: event.inboxID))
        self.handOut(retention, &step)
        self.dropSurplus(retention, &step)
    }

    /// Returns whether items of feeds may be added: they fill at most half of the inbox, so that they never displace
    /// events of chats.
    func hasRoomForFeeds(_ retention: RetentionPolicy) -> Bool {
        self.events.feedCount < max(1, retention.maximumUnhandled / 2)
            && self.events.feedBytes < RetentionPolicy.maximumUnhandledBytes / 2
    }

    /// Removes an event that a handler has finished; false if it is gone already.
    mutating func finish(_ id: Int64, _ step: inout CoreStep) -> Bool {
        guard self.events.remove(id) != nil else { return false }
        step.changes.append(.deleteInbox(id: id))
        return true
    }

    /// Hands events to handlers, oldest first, while there is room; ``finish(_:_:)`` makes more.
    mutating func handOut(_ retention: RetentionPolicy, _ step: inout CoreStep) {
        let window = Inbox.Window.within(retention.maximumUnhandled)
        let oldest = retention.unhandled.map { step.now - $0.components.seconds } ?? .distantPast
        while let event = self.events.handOut(within: window, notBefore: oldest) {
            step.effects.append(.deliver(event))
        }
    }

    // MARK: Idempotent actions

    /// Begins an action; a new one counts as in progress from here on.
    mutating func begin(_ request: RequestID?) -> IdempotentOutcomes.Status { self.outcomes.begin(request) }

    /// Marks an action that continues after a restart as in progress.
    mutating func resume(_ request: RequestID?) { self.outcomes.resume(request) }

    /// Stores the outcome of an action, and reports it.
    mutating func report(_ outcome: ActionOutcome, of request: RequestID, _ step: inout CoreStep) {
        self.outcomes.record(outcome, of: request, &step)
        step.effects.append(.finish(request, outcome))
    }

    /// Stores the outcome of an action that is still in progress: it is reported later.
    mutating func recordEarly(_ outcome: ActionOutcome, of request: RequestID, _ step: inout CoreStep) {
        self.outcomes.record(outcome, of: request, &step)
        self.outcomes.resume(request)
    }

    /// Removes the outcome about a message that no relay accepted: when requested again, it is resent.
    mutating func removeOutcome(ofMessage id: EventID?, _ step: inout CoreStep) {
        self.outcomes.remove(messageID: id, &step)
    }

    /// Restores an outcome; false if the memo is unreadable.
    mutating func restoreOutcome(_ name: [UInt8], _ memo: Secret) -> Bool { self.outcomes.restore(name, memo) }

    // MARK: Retention

    /// Drops a batch of events that waited too long; false if there are more.
    mutating func dropExpired(_ retention: RetentionPolicy, _ step: inout CoreStep) -> Bool {
        guard let age = retention.unhandled?.components.seconds else { return true }
        let old = self.events.waiting(since: step.now - age)
        for event in old.prefix(Self.retentionBatch).compactMap({ self.events.remove($0) }) {
            Self.note(event, .tooOld, &step)
        }
        return old.count <= Self.retentionBatch
    }

    /// Drops the oldest waiting events if there are too many, or too many bytes. Handlers have seen none of them.
    mutating func dropSurplus(_ retention: RetentionPolicy, _ step: inout CoreStep) {
        let (count, bytes) = (max(0, retention.maximumUnhandled), RetentionPolicy.maximumUnhandledBytes)
        while let event = self.events.dropSurplus(count: count, bytes: bytes) { Self.note(event, .tooMany, &step) }
    }

    /// Records that an event left the inbox unhandled.
    private static func note(_ event: CoreEvent, _ reason: CoreReason, _ step: inout CoreStep) {
        step.changes.append(.deleteInbox(id: event.inboxID))
        if let names = event.names {
            step.observe(
                .gaveUp, reason, "no handler finished it in time", names.wrapper ?? names.id, inner: names.id,
                chatID: event.isFeed ? nil : event.chatID)
        }
        step.effects.append(.note(.droppedEvent(reason: reason.rawValue)))
    }
}
