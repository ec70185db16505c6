import Nostr
import Testing

@testable import PikaCore

@Suite struct InboxTests {
    private static let window = Inbox.Window(count: 4, bytes: 100, countOfChat: 2, bytesOfChat: 60)

    private func event(_ id: Int64, _ chat: ChatID = "a", at time: UnixTime = 10) throws -> CoreEvent {
        let key = try PublicKey(hex: String(repeating: "b", count: 64))
        return CoreEvent(
            inboxID: id, chatID: chat, receivedAt: time,
            content: .joined(JoinEvent(inviter: key, name: "", epoch: 1, memberCount: 2)))
    }

    private func inbox(_ rows: (id: Int64, chat: ChatID, bytes: Int)...) throws -> Inbox {
        var inbox = Inbox()
        for row in rows { inbox.add(try self.event(row.id, row.chat), bytes: row.bytes) }
        return inbox
    }

    private func handOut(_ inbox: inout Inbox, notBefore oldest: UnixTime = .distantPast) -> [Int64] {
        var ids: [Int64] = []
        while let event = inbox.handOut(within: Self.window, notBefore: oldest) { ids.append(event.inboxID) }
        return ids
    }

    @Test func handsOutOldestPerChatWithRoom() throws {
        var inbox = try self.inbox((1, "a", 1), (2, "a", 1), (3, "a", 1), (4, "b", 1), (5, "c", 1), (6, "c", 1))
        #expect(self.handOut(&inbox) == [1, 2, 4, 5])
        inbox.remove(4)
        #expect(self.handOut(&inbox) == [6], "chat a must not exceed its share")
        inbox.remove(1)
        #expect(self.handOut(&inbox) == [3])
        #expect(inbox.handedOutCount == 4 && inbox.count == 4)
    }

    @Test func boundsBytesHandedOut() throws {
        var inbox = try self.inbox((1, "a", 50), (2, "a", 20), (3, "b", 40), (4, "c", 20))
        #expect(self.handOut(&inbox) == [1, 3], "chat a must stay within 60 bytes, all chats within 100")
        inbox.remove(1)
        #expect(self.handOut(&inbox) == [2, 4])
        #expect(inbox.bytes == 80)
    }

    @Test func handsOutSingleEventBeyondWindow() throws {
        var inbox = try self.inbox((1, "a", 1000), (2, "b", 1))
        #expect(self.handOut(&inbox) == [1])
        inbox.remove(1)
        #expect(self.handOut(&inbox) == [2])
    }

    @Test func dropsOldestWaitingEvent() throws {
        var inbox = try self.inbox((1, "a", 1), (2, "a", 1), (3, "a", 1), (4, "a", 1), (5, "b", 1), (6, "a", 1))
        #expect(self.handOut(&inbox) == [1, 2, 5])
        #expect(inbox.dropSurplus(count: 5, bytes: 100)?.inboxID == 3)
        #expect(inbox.dropSurplus(count: 5, bytes: 100) == nil)
        #expect(inbox.dropSurplus(count: 10, bytes: 4)?.inboxID == 4)
        #expect(inbox.dropSurplus(count: 0, bytes: 0)?.inboxID == 6)
        #expect(inbox.dropSurplus(count: 0, bytes: 0) == nil, "events held by handlers must not be dropped")
        #expect(inbox.ids == [1, 2, 5] && inbox.bytes == 3)
    }

    /// Their sources were told that they are stored.
    @Test func neverDropsItemsOfFeeds() throws {
        var inbox = Inbox()
        let item = FeedItem(feed: "f", id: "1", payload: [])
        inbox.add(CoreEvent(inboxID: 1, chatID: "", receivedAt: 10, content: .feed(item)), bytes: 1)
        inbox.add(try self.event(2), bytes: 1)
        #expect(inbox.feedCount == 1 && inbox.feedBytes == 1)
        #expect(inbox.dropSurplus(count: 0, bytes: 0)?.inboxID == 2)
        #expect(inbox.dropSurplus(count: 0, bytes: 0) == nil)
        inbox.remove(1)
        #expect(inbox.feedCount == 0 && inbox.feedBytes == 0)
    }

    @Test func feedsHaveLanesOfTheirOwn() {
        func event(_ feed: String) -> CoreEvent {
            CoreEvent(
                inboxID: 1, chatID: "", receivedAt: 10, content: .feed(FeedItem(feed: feed, id: "1", payload: [])))
        }
        #expect(event("a").lane == "feed/a" && event("a").lane != event("b").lane)
    }

    @Test func keepsOldEventsFromHandlers() throws {
        var inbox = Inbox()
        for (id, time) in [(1, 5), (2, 20), (3, 6)] {
            inbox.add(try self.event(Int64(id), at: UnixTime(Int64(time))), bytes: 1)
        }
        #expect(self.handOut(&inbox, notBefore: 10) == [2])
        #expect(inbox.waiting(since: 10) == [1, 3] && inbox.oldestArrival == 5)
    }

    @Test func forgetsFinishedEvents() throws {
        var inbox = try self.inbox((2, "a", 3), (1, "a", 3))
        inbox.add(try self.event(2), bytes: 9)
        #expect(self.handOut(&inbox) == [1, 2] && inbox.bytes == 6)
        for id in [Int64(1), 2, 2, 7] { inbox.remove(id) }
        #expect(inbox.isEmpty && inbox.bytes == 0 && inbox.handedOutCount == 0)
    }
}
