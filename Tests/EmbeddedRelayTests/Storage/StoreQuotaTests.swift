import GRDB
import LiveTesting
import Nostr
import Testing

@testable import EmbeddedRelay

@Suite(.bounded)
struct StoreQuotaTests {
    private let large = String(repeating: "x", count: 50_000)

    @Test func refusesEventsBeyondTheQuota() async throws {
        let access = try StoreAccess(quota: 1 << 20)
        let events = (0..<40).map { Author.alice.event(large, at: UnixTime(Int64($0))) }
        var outcomes: [StoreOutcome] = []
        for event in events { outcomes.append(try #require(await access.insert(event))) }
        let stored = outcomes.prefix { $0.isAccepted }.count
        #expect((10..<30).contains(stored) && outcomes.dropFirst(stored).allSatisfy { $0 == .full })
        #expect(StoreOutcome.full.message == "error: the relay's store is full")
        // Stored events are still served, and deletions free space.
        #expect(await access.insert(events[0]) == .duplicate)
        let deletion = Author.alice.event(kind: .deletion, tags: events.prefix(stored).map { .event($0.id) })
        #expect(try #require(await access.insert(deletion)).isAccepted)
        #expect(try #require(await access.insert(Author.alice.event(large, at: 99))).isAccepted)
    }

    @Test func countsWithinOneTransaction() async throws {
        let access = try StoreAccess(quota: 1 << 20)
        _ = await access.insert((0..<400).map { Author.alice.event(large, at: UnixTime(Int64($0))) })
        #expect(try await access.store.database.read(EventStore.usedBytes) < 2 << 20)
    }

    @Test func deletionsMayExceedQuotaByOneSixteenth() {
        var quota = StoreQuota(limit: 1_600, used: 1_599)
        #expect(quota.admits(1) && quota.admits(.deletion))
        quota = StoreQuota(limit: 1_600, used: 1_600)
        #expect(!quota.admits(1) && quota.admits(.deletion))
        quota = StoreQuota(limit: 1_600, used: 1_700)
        #expect(!quota.admits(.deletion))
        quota = StoreQuota(limit: .max, used: .max - 1)
        quota.add(json: .max)
        #expect(quota.used == .max && !quota.admits(.deletion))
    }
}
