import MLS
import Nostr
import Testing

@testable import PikaCore

@Suite struct FeedReducerTests {
    private func item(_ id: String, feed: String = "orders", bytes: Int = 2) -> FeedItem {
        FeedItem(feed: feed, id: id, payload: [UInt8](repeating: 0x61, count: bytes))
    }

    private func receive(
        _ item: FeedItem, position: [UInt8]? = nil, _ world: inout ReducerWorld
    ) -> (receipt: FeedReceipt?, step: CoreStep) {
        let step = world.reduce(0, .feed(FeedDelivery(item, position: position), answer: 4))
        for case .answerFeed(4, let receipt) in step.effects { return (receipt, step) }
        return (nil, step)
    }

    private func feeds(_ world: ReducerWorld) -> [String] {
        world[0].delivered.compactMap { if case .feed(let item) = $0.content { item.id } else { nil } }
    }

    private func restart(_ world: inout ReducerWorld) throws {
        let account = world.accounts[0]
        world.accounts[0].model = try CoreModel(
            account: account.keys, configuration: account.configuration, stored: account.durable.state)
        world.accounts[0].delivered = []
        world.reduce(0, .started)
    }

    @Test func storesItemBeforeAnswering() throws {
        var world = try ReducerWorld(1)
        let (receipt, step) = self.receive(self.item("1"), position: [7], &world)
        #expect(receipt == .stored(self.item("1").eventID))
        #expect(world[0].durable.state.inbox.count == 1)
        #expect(self.feeds(world) == ["1"] && world[0].delivered.allSatisfy { $0.chatID == "" })
        let hasPosition = step.changes.contains {
            if case .putValue(CoreModel.feedScope, "orders", [7]) = $0 { true } else { false }
        }
        #expect(hasPosition)
    }

    @Test func deliversAnIDOnce() throws {
        var world = try ReducerWorld(1)
        _ = self.receive(self.item("1"), &world)
        #expect(self.receive(self.item("1"), &world).receipt == .duplicate(self.item("1").eventID))
        #expect(self.receive(self.item("1", feed: "other"), &world).receipt != .duplicate(self.item("1").eventID))
        #expect(self.feeds(world) == ["1", "1"])
    }

    @Test func knowsDuplicatesAfterRestart() throws {
        var world = try ReducerWorld(1)
        _ = self.receive(self.item("1"), &world)
        let row = try #require(world[0].durable.state.inbox.first?.id)
        world.reduce(0, .handled(inboxID: row, []))
        try self.restart(&world)
        #expect(self.receive(self.item("1"), &world).receipt == .duplicate(self.item("1").eventID))
        #expect(self.feeds(world).isEmpty)
    }

    @Test func redeliversUnhandledItemsAfterRestart() throws {
        var world = try ReducerWorld(1)
        _ = self.receive(self.item("1"), &world)
        try self.restart(&world)
        #expect(self.feeds(world) == ["1"])
    }

    @Test func forgetsTheOldestIDs() throws {
        var world = try ReducerWorld(1)
        let count = RecentFeedItems.capacity + 3
        for number in 0..<count {
            let (receipt, _) = self.receive(self.item("\(number)"), &world)
            #expect(receipt == .stored(self.item("\(number)").eventID))
            world.reduce(0, .handled(inboxID: world[0].model.inbox.lastID, []))
        }
        let memos = world[0].durable.state.memos.keys.count { $0.kind == .feedItem }
        #expect(memos == RecentFeedItems.capacity)
        try self.restart(&world)
        #expect(
            self.receive(self.item("\(count - 1)"), &world).receipt == .duplicate(self.item("\(count - 1)").eventID))
        #expect(self.receive(self.item("0"), &world).receipt == .stored(self.item("0").eventID))
    }

    @Test func forgetsTheQuietestFeed() throws {
        var world = try ReducerWorld(1)
        for number in 0...RecentFeedItems.maximumFeeds {
            _ = self.receive(self.item("1", feed: "feed-\(number)"), &world)
        }
        #expect(world[0].model.inbox.feeds.count(of: "feed-0") == 0)
        #expect(world[0].model.inbox.feeds.count(of: "feed-1") == 1)
        let memos = world[0].durable.state.memos.keys.count { $0.kind == .feedItem }
        #expect(memos == RecentFeedItems.maximumFeeds)
    }

    @Test func fillsAtMostHalfTheInbox() throws {
        var world = try ReducerWorld(1)
        world.accounts[0].model.configuration.retention.maximumUnhandled = 4
        #expect(self.receive(self.item("1"), &world).receipt == .stored(self.item("1").eventID))
        #expect(self.receive(self.item("2"), &world).receipt == .stored(self.item("2").eventID))
        let (receipt, step) = self.receive(self.item("3"), position: [1], &world)
        #expect(receipt == .full && step.changes.isEmpty)
        world.reduce(0, .handled(inboxID: 1, []))
        #expect(self.receive(self.item("3"), &world).receipt == .stored(self.item("3").eventID))
    }

    @Test func refusesItemsBeyondTheLimits() throws {
        var world = try ReducerWorld(1)
        let long = String(repeating: "i", count: FeedItem.maximumIDBytes + 1)
        let large = self.item("1", bytes: FeedItem.maximumPayloadBytes + 1)
        for item in [self.item(""), self.item(long), large] {
            let (receipt, step) = self.receive(item, &world)
            #expect(receipt == .refused && step.changes.isEmpty)
        }
    }

    @Test func refusesUnreadableMemos() {
        var feeds = RecentFeedItems()
        for text in ["", "{}", #"{"v":1}"#, #"{"v":1,"feed":"a","slot":99999,"number":1,"id":"00"}"#] {
            let isRead = feeds.restore([0x61, 0, 0, 0], Secret(Array(text.utf8)))
            #expect(!isRead, "\(text)")
        }
    }
}
