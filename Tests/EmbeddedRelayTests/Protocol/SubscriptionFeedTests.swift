import NIOCore
import Nostr
import Testing

@testable import EmbeddedRelay

struct SubscriptionFeedTests {
    private func live(_ sequence: Int64?) -> LiveEvent {
        LiveEvent(sequence: sequence, message: ByteBuffer(string: "0123456789"))
    }

    @Test func holdsLiveEventsUntilStoredAreSent() {
        var feed = SubscriptionFeed(serial: 1)
        #expect(feed.delivered(live(5), heldLimit: 100) == .drop)
        #expect(feed.delivered(live(nil), heldLimit: 100) == .drop)
        #expect(feed.delivered(live(6), heldLimit: 100) == .drop)
        #expect(feed.answered(snapshot: 5) == [live(nil), live(6)])
    }

    @Test func skipsLiveEventsAlreadySent() {
        var feed = SubscriptionFeed(serial: 1)
        #expect(feed.answered(snapshot: 5) == [])
        #expect(feed.delivered(live(5), heldLimit: 100) == .drop)
        #expect(feed.delivered(live(6), heldLimit: 100) == .send)
        #expect(feed.delivered(live(nil), heldLimit: 100) == .send)
    }

    @Test func boundsHeldEvents() {
        var feed = SubscriptionFeed(serial: 1)
        #expect(feed.delivered(live(1), heldLimit: 20) == .drop)
        #expect(feed.delivered(live(2), heldLimit: 20) == .drop)
        #expect(feed.delivered(live(3), heldLimit: 20) == .overflow)
    }
}

struct OutboxTests {
    private let ten = ByteBuffer(string: "0123456789")

    @Test func keepsOrderAndCountsLiveBytesOnly() {
        var outbox = Outbox(backlogBytes: 15)
        outbox.append(ByteBuffer(string: "an answer of more than fifteen bytes"))
        let first = outbox.appendLive(ten)
        let second = outbox.appendLive(ten)
        #expect((first, second) == (true, false))
        #expect(outbox.liveBytes == 10)
        #expect(outbox.popFirst() == ByteBuffer(string: "an answer of more than fifteen bytes"))
        #expect(outbox.popFirst() == ten)
        #expect(outbox.popFirst() == nil)
        #expect(outbox.liveBytes == 0)
        let third = outbox.appendLive(ten)
        #expect(third)
    }
}

struct RateLimitTests {
    @Test func allowsTwoSecondBurst() {
        var limit = TokenBucket(perSecond: 3, now: 100)
        let burst = (0..<7).map { _ in limit.consume(at: 100) }
        #expect(burst == [true, true, true, true, true, true, false])
        let later = (0..<4).map { _ in limit.consume(at: 101) }
        #expect(later == [true, true, true, false])
        let muchLater = (0..<7).map { _ in limit.consume(at: .distantFuture) }
        #expect(muchLater == [true, true, true, true, true, true, false])
    }

    @Test func toleratesClockSetBack() {
        var limit = TokenBucket(perSecond: 1, now: 100)
        let takes = [
            limit.consume(at: 100), limit.consume(at: 100), limit.consume(at: 5), limit.consume(at: .distantPast),
            limit.consume(at: .distantFuture),
        ]
        #expect(takes == [true, true, false, false, true])
        let recovers = [
            limit.consume(at: .distantFuture), limit.consume(at: .distantFuture), limit.consume(at: .distantFuture - 1),
            limit.consume(at: .distantFuture),
        ]
        #expect(recovers == [true, false, false, true])
    }
}
