import MLS
import Nostr

/// The ids of the newest items of each feed: an id among them is a duplicate. Durable, one memo for each id.
struct RecentFeedItems: Sendable {
    /// The number of ids that are remembered for each feed.
    static let capacity = 2_048
    /// The number of feeds that are remembered; of further ones, the feed without news for the longest time is
    /// forgotten.
    static let maximumFeeds = 64

    private struct Entry: Sendable {
        let number: Int64
        let slot: Int
        let id: EventID
    }

    private struct Feed: Sendable {
        /// Ascending by number.
        var entries: [Entry] = []
        var ids: Set<EventID> = []

        mutating func add(_ entry: Entry) {
            self.entries.append(entry)
            self.ids.insert(entry.id)
        }

        mutating func remove(slot: Int) {
            guard let index = self.entries.firstIndex(where: { $0.slot == slot }) else { return }
            self.ids.remove(self.entries.remove(at: index).id)
        }
    }

    private var feeds: [String: Feed] = [:]
    private var lastNumber: Int64 = 0

    func contains(_ item: FeedItem) -> Bool { self.feeds[item.feed]?.ids.contains(item.eventID) ?? false }

    /// The number of remembered ids of a feed.
    func count(of feed: String) -> Int { self.feeds[feed]?.entries.count ?? 0 }

    /// Records an item, durably.
    mutating func insert(_ item: FeedItem, _ step: inout CoreStep) {
        self.makeRoom(for: item.feed, &step)
        // Moved out of the dictionary, so that it is changed in place.
        var feed = self.feeds.removeValue(forKey: item.feed) ?? Feed()
        let slot = feed.entries.last.map { ($0.slot + 1) % Self.capacity } ?? 0
        feed.remove(slot: slot)
        self.lastNumber += 1
        let entry = Entry(number: self.lastNumber, slot: slot, id: item.eventID)
        feed.add(entry)
        self.feeds[item.feed] = feed
        step.changes.append(.putMemo(Self.name(item.feed, slot), Self.memo(entry, of: item.feed)))
    }

    private mutating func makeRoom(for feed: String, _ step: inout CoreStep) {
        guard self.feeds[feed] == nil, self.feeds.count >= Self.maximumFeeds else { return }
        let oldest = self.feeds.min {
            ($0.value.entries.last?.number ?? 0, $0.key) < ($1.value.entries.last?.number ?? 0, $1.key)
        }
        guard let oldest else { return }
        for entry in oldest.value.entries { step.changes.append(.putMemo(Self.name(oldest.key, entry.slot), nil)) }
        self.feeds[oldest.key] = nil
    }

    // MARK: Stored form

    private static func name(_ feed: String, _ slot: Int) -> MemoName {
        MemoName(
            .feedItem, Array(feed.utf8) + [0, UInt8(truncatingIfNeeded: slot >> 8), UInt8(truncatingIfNeeded: slot)])
    }

    private static func memo(_ entry: Entry, of feed: String) -> Secret {
        let json: JSONValue = [
            "v": 1, "feed": .string(feed), "slot": .integer(Int64(entry.slot)), "number": .integer(entry.number),
            "id": .string(entry.id.hex),
        ]
        return Secret(json.json())
    }

    /// Restores an id, in any order; false if the memo is unreadable. ``sort()`` must follow.
    mutating func restore(_ key: [UInt8], _ memo: Secret) -> Bool {
        guard let json = JSONValue(memo: memo), let feed = json["feed"]?.string,
            let slot = json["slot"]?.integer.flatMap({ Int(exactly: $0) }), (0..<Self.capacity).contains(slot),
            let number = json["number"]?.integer, (0..<Int64.max / 2).contains(number),
            let id = json["id"]?.string.flatMap({ try? EventID(hex: $0) }), Self.name(feed, slot).key == key
        else { return false }
        self.feeds[feed, default: Feed()].add(Entry(number: number, slot: slot, id: id))
        self.lastNumber = max(self.lastNumber, number)
        return true
    }

    /// Orders the restored ids.
    mutating func sort() {
        for feed in Array(self.feeds.keys) { self.feeds[feed]?.entries.sort { $0.number < $1.number } }
    }
}
