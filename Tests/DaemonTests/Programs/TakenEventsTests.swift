import Nostr
import Testing

@testable import Daemon

@Suite struct TakenEventsTests {
    @Test func whatIsTakenOutOfOrderIsKeptUntilTheRestIs() {
        var taken = TakenEvents()
        taken.take(3)
        taken.take(2)
        #expect(taken.upTo == 0 && taken.beyond == [2, 3] && taken.oldestOpen(upTo: 3) == 1)
        #expect(taken.contains(2) && !taken.contains(1) && taken.span(upTo: 5) == 5)
        taken.take(1)
        #expect(taken.upTo == 3 && taken.beyond.isEmpty && taken.oldestOpen(upTo: 3) == nil)
        #expect(taken.oldestOpen(upTo: 4) == 4 && taken.span(upTo: 3) == 0)
        taken.take(2)
        #expect(taken.upTo == 3 && taken.beyond.isEmpty)
    }

    @Test func whatIsTakenAtOnceTakesTheRestWithIt() {
        var taken = TakenEvents()
        for cursor in [2, 5, 7] as [Int64] { taken.take(cursor) }
        _ = taken.noteFailure(of: 1)
        _ = taken.noteFailure(of: 6)
        taken.take(through: 4)
        #expect(taken.upTo == 5 && taken.beyond == [7] && taken.failures == [6: 1])
        taken.take(through: 3)
        #expect(taken.upTo == 5)
    }

    @Test func failuresAreCountedUntilTheEventIsTaken() {
        var taken = TakenEvents()
        #expect(taken.noteFailure(of: 1) == 1)
        #expect(taken.noteFailure(of: 1) == 2)
        #expect(taken.noteFailure(of: 2) == 1)
        taken.take(1)
        #expect(taken.failures == [2: 1])
    }

    @Test func itsStoredFormHoldsAll() {
        var taken = TakenEvents()
        for cursor in [1, 2, 5, 7] as [Int64] { taken.take(cursor) }
        _ = taken.noteFailure(of: 3)
        taken.acknowledges = true
        #expect(
            taken.json == ["up_to": 2, "beyond": [5, 7], "failures": [[3, 1]], "acknowledges": true] as JSONObject)
        #expect(TakenEvents(taken.json) == taken)
        #expect(TakenEvents([:]) == TakenEvents())
        #expect(TakenEvents(["up_to": 4, "beyond": [2, 6], "failures": [[1]]]).beyond == [6])
    }
}
