import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.bounded)
struct EventQueryTests {
    /// The expected answer of a relay that reads every event.
    private func bruteForce(_ filters: [Filter], _ events: [Event]) -> [Event] {
        let found = filters.flatMap { filter in
            events.filter(filter.matches).newestFirst.prefix(filter.limit ?? 500)
        }
        return Array(Set(found)).newestFirst
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func queryAgreesWithFullScan(seed: UInt64) async throws {
        var generator = SplitMix64(seed: seed)
        let access = try StoreAccess()
        let events = (0..<300).map { _ in RandomNostr.event(&generator) }
        _ = await access.insert(events)
        for _ in 0..<150 {
            let filters = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
                RandomNostr.filter(&generator, ids: events.map(\.id))
            }
            let answer = try await access.answer(filters).events.map { try Event(json: $0) }
            #expect(answer == bruteForce(filters, events), "\(filters)")
        }
    }

    @Test func countIgnoresLimits() async throws {
        var generator = SplitMix64(seed: 5)
        let access = try StoreAccess()
        let events = (0..<200).map { _ in RandomNostr.event(&generator) }
        _ = await access.insert(events)
        for _ in 0..<100 {
            let one = RandomNostr.filter(&generator, ids: events.map(\.id))
            let two = RandomNostr.filter(&generator, ids: events.map(\.id))
            #expect(try await access.count(one) == events.filter(one.matches).count, "\(one)")
            let either = events.filter { one.matches($0) || two.matches($0) }.count
            #expect(try await access.count(one, two) == either, "\(one) \(two)")
        }
    }

    @Test func ordersByTimeThenID() async throws {
        let access = try StoreAccess()
        let events = (0..<20).map { Author.alice.event("\($0)", at: 100 + Int64($0 / 5)) }
        _ = await access.insert(events)
        #expect(try await access.query(Filter()) == events.newestFirst)
        #expect(try await access.query(Filter(limit: 7)) == Array(events.newestFirst.prefix(7)))
    }

    @Test func clampsAndDefaultsLimits() async throws {
        let access = try StoreAccess()
        let events = (0..<20).map { Author.alice.event("\($0)", at: 100 + Int64($0)) }
        _ = await access.insert(events)
        var limits = RelayLimits()
        limits.eventsPerFilter = 10
        limits.defaultEventsPerFilter = 4
        #expect(try await access.query(Filter(limit: 15), limits: limits).count == 10)
        #expect(try await access.query(Filter(), limits: limits).count == 4)
        #expect(try await access.query(Filter(limit: 0), limits: limits).isEmpty)
        limits.answerBytes = events[0].json().count * 3 + 10
        #expect(try await access.query(Filter(limit: 10), limits: limits) == Array(events.newestFirst.prefix(3)))
    }

    @Test func hidesExpiredEventsBeforePurge() async throws {
        let access = try StoreAccess()
        let short = Author.alice.event("short", tags: [.expiration(at: 100), Tag("h", "x")])
        let long = Author.alice.event("long", tags: [.expiration(at: 200), Tag("h", "x")])
        _ = await access.insert([short, long])
        #expect(try await access.query(Filter(), now: 99).count == 2)
        #expect(try await access.query(Filter(), now: 100) == [long])
        #expect(try await access.query(Filter(tags: ["h": ["x"]]), now: 100) == [long])
        #expect(try await access.query(Filter(ids: [short.id]), now: 100).isEmpty)
        #expect(try await access.count(Filter(), now: 100) == 1)
        #expect(try await access.store.purge(now: 100) == 1)
        #expect(try await access.query(Filter(), now: 0) == [long])
    }

    @Test func purgesInSeveralSteps() async throws {
        let access = try StoreAccess()
        let events = (0..<2_100).map { Author.alice.event("\($0)", tags: [.expiration(at: 100)]) }
        _ = await access.insert(events)
        #expect(try await access.store.purge(now: 100) == 2_100)
        #expect(try await access.count(Filter()) == 0)
    }

    @Test func reportsSnapshotOfTheAnswer() async throws {
        let access = try StoreAccess()
        #expect(try await access.answer([Filter()]).snapshot == 0)
        let outcomes = await access.insert([Author.alice.event("a"), Author.alice.event("a"), Author.alice.event("b")])
        #expect(outcomes == [.stored(sequence: 1), .duplicate, .stored(sequence: 2)])
        #expect(try await access.answer([Filter(kinds: [9])]).snapshot == 2)
    }
}
