import GRDB
import Logging
import Nostr

@testable import EmbeddedRelay

/// A store for one test, queried with `await`.
struct StoreAccess {
    let store: EventStore
    private let commits: GroupCommit
    private let outcomes: AsyncStream<[StoreOutcome]>

    init(_ storage: RelayConfiguration.Storage = .memory, quota: Int64 = .max) throws {
        store = try EventStore(storage, synchronousCommits: false)
        let (outcomes, continuation) = AsyncStream<[StoreOutcome]>.makeStream()
        self.outcomes = outcomes
        commits = GroupCommit(store, quota: quota, logger: Logger(label: "test")) {
            continuation.yield($0.map(\.outcome))
        }
    }

    /// Stores all events in one batch and returns their outcomes in order.
    func insert(_ events: [Event]) async -> [StoreOutcome] {
        for event in events {
            commits.submit(GroupCommit.Submission(event: event, json: event.json(), origin: 1))
        }
        var heard: [StoreOutcome] = []
        var iterator = outcomes.makeAsyncIterator()
        while heard.count < events.count, let batch = await iterator.next() { heard += batch }
        return heard
    }

    func insert(_ event: Event) async -> StoreOutcome? {
        await insert([event]).first
    }

    func query(_ filters: Filter..., limits: RelayLimits = RelayLimits(), now: UnixTime = 0) async throws -> [Event] {
        try await answer(filters, limits: limits, now: now).events.map { try Event(json: $0) }
    }

    func answer(_ filters: [Filter], limits: RelayLimits = RelayLimits(), now: UnixTime = 0) async throws
        -> StoredAnswer
    {
        try await withCheckedThrowingContinuation { continuation in
            store.query(filters, limits: limits, now: now) { continuation.resume(with: $0) }
        }
    }

    func execute(_ sql: String) async throws {
        try await store.database.write { try $0.execute(sql: sql) }
    }

    func count(_ filters: Filter..., now: UnixTime = 0) async throws -> Int {
        try await withCheckedThrowingContinuation { continuation in
            store.count(filters, now: now) { continuation.resume(with: $0) }
        }
    }
}

extension [Event] {
    /// NIP-01: newest first; among equally old events, the lowest id first.
    var newestFirst: [Event] {
        sorted { $0.createdAt != $1.createdAt ? $0.createdAt > $1.createdAt : $0.id < $1.id }
    }
}
