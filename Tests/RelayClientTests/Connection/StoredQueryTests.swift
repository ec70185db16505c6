import Nostr
import Testing

@testable import RelayClient

/// Tests against a relay that stores events and caps its answers.
struct StoredQueryTests {
    private struct CappedRelay {
        enum Cap {
            case perFilter(Int)
            case perRequest(Int)
        }

        let events: [Event]
        let cap: Cap
        var requests = 0

        init(_ events: [Event], _ cap: Cap) {
            self.events = events.sorted { $0.createdAt != $1.createdAt ? $0.createdAt > $1.createdAt : $0.id < $1.id }
            self.cap = cap
        }

        mutating func answer(_ filters: [Filter]) -> [Event] {
            requests += 1
            var most = Int.max
            if case .perFilter(let cap) = cap { most = cap }
            let chosen = filters.reduce(into: Set<EventID>()) { chosen, filter in
                chosen.formUnion(
                    events.filter(filter.matches).prefix(min(most, filter.limit ?? .max)).map(\.id))
            }
            let answer = events.filter { chosen.contains($0.id) }
            if case .perRequest(let cap) = cap { return Array(answer.prefix(cap)) }
            return answer
        }

        mutating func run(_ filters: [Filter], smallestCap: Int = 5, losing: Set<Int> = []) -> [Event] {
            var query = StoredQuery(filters, smallestCap: smallestCap)
            var found: [Event] = []
            for round in 1...10_000 {
                let answer = answer(query.request)
                // The connection is lost in the middle of some answers.
                for event in losing.contains(round) ? answer.prefix(answer.count / 2) : answer[...]
                where query.received(event) == .new { found.append(event) }
                if losing.contains(round) {
                    query.restartPage()
                } else if query.endOfPage() {
                    return found
                }
            }
            Issue.record("expected an end")
            return found
        }
    }

    private static func events(_ count: Int, perSecond: Int, kind: Kind = 1) -> [Event] {
        (0..<count).map { Author.alice.event("\($0)", kind: kind, at: 1_000 + Int64($0 / perSecond)) }
    }

    @Test(arguments: [(0, 1), (1, 1), (4, 1), (5, 1), (20, 1), (43, 1), (43, 3)])
    func readsEverythingInPages(count: Int, perSecond: Int) {
        let events = StoredQueryTests.events(count, perSecond: perSecond)
        for cap in [5, 7, 20] {
            var relay = CappedRelay(events, .perRequest(cap))
            #expect(Set(relay.run([Filter(kinds: [1])])) == Set(events))
        }
    }

    @Test func shortPageNeedsOneRequest() {
        var relay = CappedRelay(StoredQueryTests.events(4, perSecond: 1), .perRequest(500))
        #expect(relay.run([Filter(kinds: [1])]).count == 4)
        #expect(relay.requests == 1)
    }

    @Test func skipsSecondsFullerThanTheCap() {
        let events = StoredQueryTests.events(40, perSecond: 10)
        var relay = CappedRelay(events, .perRequest(6))
        let found = relay.run([Filter(kinds: [1])])
        #expect(Set(found.map(\.createdAt)) == [1_000, 1_001, 1_002, 1_003])
        #expect(found.count == 24)
    }

    @Test func relayIgnoringUntilEndsQuery() {
        let newest = StoredQueryTests.events(10, perSecond: 1)
        var query = StoredQuery([Filter(kinds: [1])], smallestCap: 5)
        let first = newest.map { query.received($0) == .new }
        let endsAfterFirst = query.endOfPage()
        let second = newest.map { query.received($0) == .new }
        let endsAfterSecond = query.endOfPage()
        #expect(first.allSatisfy { $0 } && !endsAfterFirst)
        #expect(second.allSatisfy { !$0 } && endsAfterSecond)
    }

    @Test(arguments: [1, 5, 8, 12, 30, 31, 100]) func limitHoldsAcrossPages(limit: Int) {
        let events = StoredQueryTests.events(30, perSecond: 2)
        var relay = CappedRelay(events, .perRequest(7))
        let found = relay.run([Filter(kinds: [1], limit: limit)])
        let newest = relay.events.prefix(limit)
        #expect(Set(found).isSuperset(of: newest))
        // A second is not split, or the next position would be unknown.
        #expect(found.count <= min(30, limit + 1))
    }

    @Test func splitsFiltersWhenTruncated() {
        // Many new events of one kind, and few old ones of another.
        let many = StoredQueryTests.events(60, perSecond: 1)
        let few = (0..<12).map { Author.bob.event("b\($0)", kind: 7, at: 10 + Int64($0)) }
        let filters = [Filter(kinds: [1]), Filter(kinds: [7]), Filter(kinds: [1], since: 1_030)]
        for cap in [CappedRelay.Cap.perRequest(10), .perFilter(10)] {
            var relay = CappedRelay(many + few, cap)
            #expect(Set(relay.run(filters)) == Set(many + few))
        }
    }

    @Test func reconnectsBetweenPagesLoseNothing() {
        let events = StoredQueryTests.events(50, perSecond: 2)
        var relay = CappedRelay(events, .perRequest(8))
        #expect(Set(relay.run([Filter(kinds: [1])], losing: [1, 3, 4, 7])) == Set(events))
        var limited = CappedRelay(events, .perRequest(8))
        let found = limited.run([Filter(kinds: [1], limit: 20)], losing: [1, 2, 4])
        #expect(Set(found).isSuperset(of: limited.events.prefix(20)))
    }

    @Test func respectsUntilOfTheFilter() {
        let events = StoredQueryTests.events(30, perSecond: 1)
        var relay = CappedRelay(events, .perRequest(5))
        #expect(Set(relay.run([Filter(kinds: [1], until: 1_010)])) == Set(events[...10]))
    }

    @Test func queryEndsAtTimeZero() {
        let events = (0..<20).map { Author.alice.event("\($0)", at: 0) }
        var relay = CappedRelay(events, .perRequest(5))
        #expect(relay.run([Filter(kinds: [1])]).count == 5)
    }
}
