import GRDB
import LiveTesting
import MLS
import Nostr
import PikaCore
import Testing

@testable import Storage

@Suite(.bounded) struct AccountStoreTests {
    @Test(arguments: ConformanceCheck.all)
    func conforms(_ check: ConformanceCheck) async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        try await check.run(store)
        try store.close()
    }

    @Test func commitsSynchronouslyAndOverwritesDeletions() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let pragmas = try await store.pool.writeWithoutTransaction { database in
            try ["synchronous", "secure_delete", "foreign_keys", "journal_mode"].map {
                try String.fetchOne(database, sql: "PRAGMA \($0)")
            }
        }
        #expect(pragmas == ["2", "1", "1", "wal"])
    }

    @Test func seenEventsAreBounded() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let ids = try (0..<52_500).map { try Sample.id($0) }
        try await store.commit(ids.map { .putSeen($0, at: 1) })
        let seen = try await store.load().seen
        #expect(seen == ids.suffix(50_000).reversed())
        let rows = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM seen") }
        #expect(rows == 50_500)
    }

    @Test func refusedEventsDoNotEvictSeenEvents() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let ids = try (0..<22_500).map { try Sample.id($0) }
        let genuine = try Sample.id(99_999)
        try await store.commit([.putSeen(genuine, at: 1)] + ids.map { .putRefused($0, at: 1) })
        let state = try await store.load()
        #expect(state.refused == ids.suffix(20_000).reversed() && state.seen == [genuine])
        let rows = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM refused") }
        #expect(rows == 20_500)
    }

    @Test func concurrentCommitsAreAtomic() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let bad = StoredInvite(wrapper: try Sample.id(1), rumor: Sample.rumor("early", at: -1))
        let failed = try await withThrowingTaskGroup(of: Int64?.self) { group in
            for number in Int64(1)...200 {
                group.addTask {
                    var changes: [StoreChange] = [.putInbox(InboxRow(id: number, payload: [])), .putInvite(bad)]
                    if !number.isMultiple(of: 10) { changes.removeLast() }
                    do { try await store.commit(changes) } catch let error as StoreError {
                        #expect(error.code == .invalidChange)
                        return number
                    }
                    return nil
                }
            }
            return try await group.reduce(into: Set<Int64>()) { if let number = $1 { $0.insert(number) } }
        }
        #expect(failed == Set((1...20).map { $0 * 10 }))
        #expect(try await store.load().inbox.map(\.id) == (1...200).filter { !$0.isMultiple(of: 10) })
    }

    @Test func failingChangeRollsBackItsCommit() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        try await store.pool.writeWithoutTransaction {
            try $0.execute(
                sql: """
                    CREATE TEMP TRIGGER refuse BEFORE INSERT ON main.outbox BEGIN SELECT raise(ABORT, 'refused'); END
                    """)
        }
        await #expect(throws: StoreError(.io, "")) {
            try await store.commit([
                .putInbox(InboxRow(id: 1, payload: [1])), .advanceCursor(name: "a", to: 1),
                .putMessage(try Sample.message("x")), .putOutbox(try Sample.outboxRow("x", sequence: 1)),
                .putInbox(InboxRow(id: 2, payload: [2])),
            ])
        }
        let state = try await store.load()
        #expect(state.inbox.isEmpty && state.cursors.isEmpty && state.outbox.isEmpty)
        #expect(try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 1).isEmpty)
    }

    @Test func reportsFullDisk() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 60") }
        let error = await #expect(throws: StoreError.self) {
            for number in Int64(0)..<1000 {
                try await store.commit([.putInbox(InboxRow(id: number, payload: Sample.bytes(1, count: 1000)))])
            }
        }
        #expect(error?.code == .diskFull)
        #expect(error?.message.contains("state.sqlite: the disk is full") == true)
    }

    /// The disk fills up during a large commit: nothing of it is stored, before or after a restart, and it succeeds
    /// once there is room.
    @Test func commitThatFillsDiskRollsBack() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        try await store.commit([.putInbox(InboxRow(id: 0, payload: [1])), .advanceCursor(name: "a", to: 1)])
        try await store.pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 60") }
        let large: [StoreChange] =
            [.deleteInbox(id: 0), .advanceCursor(name: "a", to: 2)]
            + (Int64(1)...300).map { .putInbox(InboxRow(id: $0, payload: Sample.bytes(1, count: 1000))) }
        for _ in 0..<3 {
            await #expect(throws: StoreError(.diskFull, "")) { try await store.commit(large) }
            let state = try await store.load()
            #expect(state.inbox.map(\.id) == [0] && state.cursors["a"] == 1)
        }
        // A small commit may still fit.
        try await store.commit([.putInbox(InboxRow(id: 1000, payload: [2]))])
        try store.close()
        let again = try directory.open()
        #expect(try await again.load().inbox.map(\.id).sorted() == [0, 1000])
        try await again.commit(large)
        let state = try await again.load()
        #expect(state.inbox.count == 301 && state.cursors["a"] == 2)
        #expect(state.inbox.allSatisfy { $0.id == 1000 || $0.payload == Sample.bytes(1, count: 1000) })
    }

    @Test func refusesUnreadableValues() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let changes: [StoreChange] = [
            .putMessage(try Sample.message("x", at: -1)),
            .putWaiting(WaitingEvent(event: Sample.event("x", at: -1), arrivedAt: 1)),
            .putInvite(StoredInvite(wrapper: try Sample.id(1), rumor: Sample.rumor("x", at: -1))),
            .putOutbox(
                OutboxRow(id: "x", sequence: 1, event: Sample.event("x", at: -1), relays: [], purpose: .message)),
        ]
        for change in changes {
            await #expect(throws: StoreError(.invalidChange, "")) { try await store.commit([change]) }
        }
    }

    @Test func closedStoreReportsClosed() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        try store.close()
        try store.close()
        await #expect(throws: StoreError(.closed, "")) { try await store.commit([.deleteInbox(id: 1)]) }
        await #expect(throws: StoreError(.closed, "")) { try await store.load() }
        await #expect(throws: StoreError(.closed, "")) { try await store.checkpoint() }
    }
}
