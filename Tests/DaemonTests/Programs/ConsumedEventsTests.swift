import Nostr
import Testing

@testable import Daemon

@Suite struct ConsumedEventsTests {
    @Test func keepsEventsConsumedOutOfOrder() {
        var consumed = ConsumedEvents()
        consumed.consume(3)
        consumed.consume(2)
        #expect(consumed.upTo == 0 && consumed.beyond == [2, 3] && consumed.oldestUnconsumed(upTo: 3) == 1)
        #expect(consumed.contains(2) && !consumed.contains(1) && consumed.span(upTo: 5) == 5)
        consumed.consume(1)
        #expect(consumed.upTo == 3 && consumed.beyond.isEmpty && consumed.oldestUnconsumed(upTo: 3) == nil)
        #expect(consumed.oldestUnconsumed(upTo: 4) == 4 && consumed.span(upTo: 3) == 0)
        consumed.consume(2)
        #expect(consumed.upTo == 3 && consumed.beyond.isEmpty)
    }

    @Test func consumesThroughACursor() {
        var consumed = ConsumedEvents()
        for cursor in [2, 5, 7] as [Int64] { consumed.consume(cursor) }
        _ = consumed.recordFailure(of: 1)
        _ = consumed.recordFailure(of: 6)
        consumed.consume(through: 4)
        #expect(consumed.upTo == 5 && consumed.beyond == [7] && consumed.failures == [6: 1])
        consumed.consume(through: 3)
        #expect(consumed.upTo == 5)
    }

    @Test func countsFailuresUntilConsumed() {
        var consumed = ConsumedEvents()
        #expect(consumed.recordFailure(of: 1) == 1)
        #expect(consumed.recordFailure(of: 1) == 2)
        #expect(consumed.recordFailure(of: 2) == 1)
        consumed.consume(1)
        #expect(consumed.failures == [2: 1])
    }

    @Test func storedFormRoundTrips() {
        var consumed = ConsumedEvents()
        for cursor in [1, 2, 5, 7] as [Int64] { consumed.consume(cursor) }
        _ = consumed.recordFailure(of: 3)
        consumed.acknowledges = true
        #expect(
            consumed.json == ["up_to": 2, "beyond": [5, 7], "failures": [[3, 1]], "acknowledges": true] as JSONObject)
        #expect(ConsumedEvents(consumed.json) == consumed)
        #expect(ConsumedEvents([:]) == ConsumedEvents())
        #expect(ConsumedEvents(["up_to": 4, "beyond": [2, 6], "failures": [[1]]]).beyond == [6])
    }
}
