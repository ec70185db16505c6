import Nostr
import Testing

@testable import RelayClient

struct RecentSetTests {
    @Test func remembersAtLeastHalfItsCapacity() {
        var set = RecentSet<Int>(capacity: 10)
        for number in 0..<1_000 {
            let isNew = set.insert(number)
            #expect(isNew && set.count <= 10)
            guard number % 7 == 6 else { continue }
            for recent in (number - 4)...number {
                let isKnown = set.contains(recent)
                #expect(isKnown)
            }
        }
        let isForgotten = set.insert(0)
        #expect(isForgotten)
    }

    @Test func usedElementsStay() {
        var set = RecentSet<Int>(capacity: 10)
        _ = set.insert(-1)
        for number in 0..<1_000 {
            _ = set.insert(number)
            let stays = set.contains(-1)
            #expect(stays)
        }
        let isKnown = set.contains(0)
        #expect(!isKnown)
    }

    @Test func removedElementsAreNew() {
        var set = RecentSet<Int>(capacity: 4)
        for number in 1...4 { _ = set.insert(number) }
        _ = set.contains(1)
        for number in [1, 3, 4] {
            let answers = [set.remove(number), set.remove(number), set.contains(number), set.insert(number)]
            #expect(answers == [true, false, false, true])
        }
    }

    @Test func smallestCapacityWorks() {
        var set = RecentSet<Int>(capacity: 0)
        let answers = [1, 1, 2, 3, 1].map { set.insert($0) }
        #expect(answers == [true, false, true, true, true])
    }

    @Test func deliversEventOncePerSubscription() {
        let delivered = DeliveredEvents(capacity: 10)
        let id = Author.alice.event().id
        #expect(!delivered.isFirst(id, for: "a"))
        delivered.begin("a")
        delivered.begin("b")
        #expect(delivered.isFirst(id, for: "a") && !delivered.isFirst(id, for: "a"))
        #expect(delivered.isFirst(id, for: "b"))
        delivered.begin("a")
        #expect(delivered.isFirst(id, for: "a"))
        delivered.end("a")
        #expect(!delivered.isFirst(id, for: "a"))
    }
}
