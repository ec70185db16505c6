import Nostr
import Testing

@testable import FeedRules
@testable import Feeds

struct FeedStatusTests {
    @Test func followsTheSource() {
        var status = FeedStatus(name: "orders", kind: "sse", now: 100)
        status.enter(.connected, now: 110)
        status.enter(.connected, now: 120)
        #expect(status.since == 110)
        status.fail(FeedError(.unreachable, "gone"), now: 130)
        #expect(status.state == .retrying && status.since == 130 && status.failures == 1)
        #expect(status.lastError == "unreachable: gone")
        status.enter(.connected, now: 140)
        #expect(status.lastError == nil && status.errors == 1)
    }

    @Test func reportsAges() {
        var status = FeedStatus(name: "orders", kind: "sse", now: 100)
        #expect(status.json(now: 105)["lastItemAge"] == .null)
        status.receive(isDuplicate: false, now: 103)
        status.receive(isDuplicate: true, now: 104)
        let json = status.json(now: 105)
        #expect(json["age"] == 5 && json["lastItemAge"] == 2 && json["stored"] == 1 && json["duplicates"] == 1)
        // The clock was set back.
        #expect(status.json(now: 50)["age"] == 0)
    }

    @Test func shortensErrors() {
        var status = FeedStatus(name: "orders", kind: "sse", now: 0)
        status.note(FeedError(.badAnswer, String(repeating: "x", count: 999)))
        #expect(status.lastError?.count == 200)
    }
}
