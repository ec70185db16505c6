import Nostr

/// Events that handlers have not finished: those handed out to handlers, and those waiting for room.
///
/// Queues behind the core hold handed-out events only, so ``Window`` bounds all of them. A waiting event may be dropped
/// at any time, because no handler has seen it; a handed-out event stays until it is finished.
struct Inbox: Sendable {
    /// The limits on handed-out events.
    struct Window: Sendable, Hashable {
        var count: Int
        var bytes: Int
        /// Per chat or feed, so that one with stuck handlers leaves room for the others.
        var countOfChat: Int
        var bytesOfChat: Int

        static let standard = Window(count: 2_048, bytes: 16 << 20, countOfChat: 256, bytesOfChat: 4 << 20)

        /// Leaves at least half of a small inbox to events that can still be dropped.
        static func within(_ maximum: Int) -> Window {
            var window = Self.standard
            window.count = min(window.count, max(1, maximum / 2))
            window.countOfChat = min(window.countOfChat, max(1, window.count / 8))
            return window
        }
    }

    private struct Row: Sendable {
        let event: CoreEvent
        let bytes: Int
        var isHandedOut = false
    }

    private struct Load: Sendable {
        var count = 0
        var bytes = 0

        /// A single event always fits, since it may be larger than the whole window.
        func takes(_ size: Int, _ count: Int, _ bytes: Int) -> Bool {
            self.count == 0 || (self.count < count && self.bytes + size <= bytes)
        }
    }

    private var rows: [Int64: Row] = [:]
    /// Ids of the waiting rows, ascending, by lane.
    private var waiting: [String: [Int64]] = [:]
    private var handedOut = Load()
    private var handedOutByLane: [String: Load] = [:]
    private var ofFeeds = Load()
    /// The total size of all stored forms.
    private(set) var bytes = 0

    var count: Int { self.rows.count }
    var isEmpty: Bool { self.rows.isEmpty }
    /// The number of handed-out events.
    var handedOutCount: Int { self.handedOut.count }
    /// The number of items of feeds, and their bytes.
    var feedCount: Int { self.ofFeeds.count }
    var feedBytes: Int { self.ofFeeds.bytes }
    var ids: [Int64] { self.rows.keys.sorted() }
    var oldestArrival: UnixTime? { self.rows.values.lazy.map(\.event.receivedAt).min() }

    subscript(_ id: Int64) -> CoreEvent? { self.rows[id]?.event }

    /// - Parameter bytes: the size of the stored form.
    mutating func add(_ event: CoreEvent, bytes: Int) {
        guard self.rows[event.inboxID] == nil else { return }
        self.rows[event.inboxID] = Row(event: event, bytes: bytes)
        self.bytes += bytes
        if event.isFeed {
            self.ofFeeds.count += 1
            self.ofFeeds.bytes += bytes
        }
        self.waiting[event.lane, default: []].add(event.inboxID)
    }

    /// Removes an event that is finished or dropped; nil if it is unknown.
    @discardableResult
    mutating func remove(_ id: Int64) -> CoreEvent? {
        guard let row = self.rows.removeValue(forKey: id) else { return nil }
        let lane = row.event.lane
        self.bytes -= row.bytes
        if row.event.isFeed {
            self.ofFeeds.count -= 1
            self.ofFeeds.bytes -= row.bytes
        }
        if row.isHandedOut {
            self.handedOut.count -= 1
            self.handedOut.bytes -= row.bytes
            var load = self.handedOutByLane[lane] ?? Load()
            load.count -= 1
            load.bytes -= row.bytes
            self.handedOutByLane[lane] = load.count == 0 ? nil : load
        } else {
            self.leaveQueue(id, lane)
        }
        return row.event
    }

    /// Hands out the oldest event whose lane has room; nil if none may be handed out now.
    ///
    /// - Parameter oldest: events that arrived earlier are no longer handed out.
    mutating func handOut(within window: Window, notBefore oldest: UnixTime) -> CoreEvent? {
        guard self.handedOut.count == 0 || self.handedOut.count < window.count else { return nil }
        var next: Row?
        for (lane, queue) in self.waiting {
            guard let row = self.first(of: queue, notBefore: oldest),
                row.event.inboxID < next?.event.inboxID ?? .max,
                (self.handedOutByLane[lane] ?? Load()).takes(row.bytes, window.countOfChat, window.bytesOfChat)
            else { continue }
            next = row
        }
        guard let row = next, self.handedOut.takes(row.bytes, window.count, window.bytes) else { return nil }
        let (id, lane) = (row.event.inboxID, row.event.lane)
        self.rows[id]?.isHandedOut = true
        self.leaveQueue(id, lane)
        self.handedOut.count += 1
        self.handedOut.bytes += row.bytes
        self.handedOutByLane[lane, default: Load()].count += 1
        self.handedOutByLane[lane, default: Load()].bytes += row.bytes
        return row.event
    }

    private func first(of queue: [Int64], notBefore oldest: UnixTime) -> Row? {
        for id in queue {
            if let row = self.rows[id], row.event.receivedAt >= oldest { return row }
        }
        return nil
    }

    private mutating func leaveQueue(_ id: Int64, _ lane: String) {
        self.waiting[lane]?.drop(id)
        if self.waiting[lane]?.isEmpty == true { self.waiting[lane] = nil }
    }

    /// Removes and returns the oldest waiting event of a chat if the inbox exceeds one of the limits. Items of feeds stay:
    /// their sources were told that they are stored, and their number is bounded already.
    mutating func dropSurplus(count: Int, bytes: Int) -> CoreEvent? {
        guard self.count > count || self.bytes > bytes,
            let oldest = self.waiting.values.compactMap({ self.firstOfChat($0) }).min()
        else { return nil }
        return self.remove(oldest)
    }

    private func firstOfChat(_ queue: [Int64]) -> Int64? {
        queue.first.flatMap { self.rows[$0]?.event.isFeed == false ? $0 : nil }
    }

    /// Returns the waiting events that arrived before a time, oldest first.
    func waiting(since time: UnixTime) -> [Int64] {
        self.waiting.values.joined().filter { self.rows[$0].map { $0.event.receivedAt < time } ?? false }.sorted()
    }
}

extension [Int64] {
    /// Inserts an id in ascending order; nearly always at the end.
    fileprivate mutating func add(_ id: Int64) {
        guard let last = self.last, last > id else { return self.append(id) }
        self.insert(id, at: self.firstIndex { $0 > id } ?? self.endIndex)
    }

    fileprivate mutating func drop(_ id: Int64) {
        guard let index = self.firstIndex(of: id) else { return }
        self.remove(at: index)
    }
}
