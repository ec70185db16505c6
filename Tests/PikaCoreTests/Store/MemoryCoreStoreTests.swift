import BotTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import MLS

/// The essential requirements of every store (the disk store passes the full list), and injected faults.
@Suite struct MemoryCoreStoreTests {
    private static let keys: KeyPair = {
        var generator = SeededGenerator(seed: 1)
        return KeyPair.generate(using: &generator)
    }()

    private static func rumor(_ content: String, at time: UnixTime = 100) -> UnsignedEvent {
        UnsignedEvent(pubkey: keys.publicKey, createdAt: time, kind: .chatMessage, content: content)
    }

    private static func event(_ content: String) -> Event {
        var generator = SeededGenerator(seed: 2)
        return rumor(content).signed(by: keys, using: &generator)
    }

    private static func message(_ content: String, in group: UInt8 = 1, at time: UnixTime = 100) -> StoredMessage {
        let rumor = rumor(content, at: time)
        return StoredMessage(
            groupID: [group], rumor: rumor, id: rumor.id, wrapper: event(content).id, epoch: 3, isOwn: true)
    }

    private static func row(_ id: String, _ sequence: Int64) -> OutboxRow {
        OutboxRow(id: id, sequence: sequence, event: event(id), relays: [], purpose: .message)
    }

    @Test func groupsKeepHeaderAndRecords() async throws {
        let store = MemoryCoreStore()
        let records: [GroupRecord: Secret?] = [.core: Secret([1]), .node(0): Secret([2]), .epoch(0): Secret([3])]
        try await store.commit([
            .updateGroup(key: [1], GroupStorageChanges(replacesAll: true, records: records)),
            .putGroupHeader(key: [1], header: Secret([4])),
            .updateGroup(
                key: [1], GroupStorageChanges(replacesAll: false, records: [.core: Secret([5]), .node(0): nil])),
        ])
        var group = try #require(try await store.load().groups.first)
        #expect(group.header == Secret([4]))
        #expect(group.records == [.core: Secret([5]), .epoch(0): Secret([3])])
        try await store.commit([
            .updateGroup(key: [1], GroupStorageChanges(replacesAll: true, records: [.epoch(1): Secret([6])]))
        ])
        group = try #require(try await store.load().groups.first)
        #expect(group.records == [.epoch(1): Secret([6])])
        try await store.commit([.putMessage(Self.message("x")), .deleteGroup(key: [1])])
        #expect(try await store.load().groups.isEmpty)
        #expect(try await store.messages(in: [1], before: nil, limit: 9).isEmpty)
    }

    @Test func pagesMessagesNewestFirst() async throws {
        let store = MemoryCoreStore()
        let messages = (0..<40).map { Self.message("\($0)", at: UnixTime(Int64(100 + $0 / 7))) }
        try await store.commit(messages.map { .putMessage($0) } + [.putMessage(Self.message("", in: 2))])
        var second = messages[0]
        second.isOwn = false
        try await store.commit([.putMessage(second)])
        var found: [StoredMessage] = []
        while true {
            let page = try await store.messages(in: [1], before: found.last?.position, limit: 7)
            if page.isEmpty { break }
            found += page
        }
        #expect(found == messages.sorted { $0.position > $1.position })
        #expect(try await store.messages(in: [1], before: nil, limit: 0).isEmpty)
    }

    @Test func queuesKeepTheirOrder() async throws {
        let store = MemoryCoreStore()
        var again = Self.row("b", 9)
        again.attempts = 7
        try await store.commit([
            .putOutbox(Self.row("b", 2)), .putOutbox(Self.row("a", 1)), .putOutbox(again),
            .countOutboxAttempt(id: "b"), .countOutboxAttempt(id: "never"),
            .putInbox(InboxRow(id: 7, payload: [7])), .putInbox(InboxRow(id: 2, payload: [2])),
        ])
        var state = try await store.load()
        #expect(state.outbox.map(\.id) == ["a", "b"])
        #expect(state.outbox.map(\.attempts) == [0, 1])
        #expect(state.inbox.map(\.id) == [2, 7])
        try await store.commit([.deleteOutbox(id: "a"), .deleteInbox(id: 2)])
        state = try await store.load()
        #expect(state.outbox.map(\.id) == ["b"])
        #expect(state.inbox.map(\.id) == [7])
    }

    @Test func keepsRowsAsThePortRequires() async throws {
        let store = MemoryCoreStore()
        let ids = (0..<3).map { Self.event("\($0)").id }
        let waiting = (0..<3).map { WaitingEvent(event: Self.event("\($0)"), arrivedAt: UnixTime(Int64(30 - $0))) }
        try await store.commit([
            .advanceCursor(name: "a", to: 10), .advanceCursor(name: "a", to: 9), .advanceCursor(name: "b", to: -5),
            .putSeen(ids[0], at: 1), .putSeen(ids[1], at: 1), .putSeen(ids[0], at: 2),
            .putValue(scope: "a", key: "bc", value: [1]), .putValue(scope: "ab", key: "c", value: []),
            .putValue(scope: "a", key: "gone", value: [2]), .putValue(scope: "a", key: "gone", value: nil),
        ])
        try await store.commit(waiting.map { .putWaiting($0) } + [.putWaiting(waiting[0]), .deleteWaiting(ids[1])])
        let state = try await store.load()
        #expect(state.cursors == ["a": 10, "b": -5])
        #expect(state.seen == [ids[1], ids[0]])
        #expect(state.waiting == [waiting[2], waiting[0]])
        #expect(try await store.value(scope: "a", key: "bc") == [1])
        #expect(try await store.value(scope: "ab", key: "c") == [])
        #expect(try await store.value(scope: "a", key: "gone") == nil)
    }

    @Test func failedCommitChangesNothing() async throws {
        let store = MemoryCoreStore()
        store.failNextCommit()
        let changes: [StoreChange] = [.putInbox(InboxRow(id: 1, payload: [])), .advanceCursor(name: "a", to: 1)]
        await #expect(throws: LabError(.injectedFault, "")) { try await store.commit(changes) }
        #expect(try await store.load().inbox.isEmpty)
        try await store.commit(changes)
        #expect(try await store.load().inbox.map(\.id) == [1])
    }

    @Test(arguments: [MemoryCoreStore.StopPoint.before(commit: 2), .after(commit: 2)])
    func stopsExactlyAtItsPoint(_ point: MemoryCoreStore.StopPoint) async throws {
        let store = MemoryCoreStore()
        let stops = Atomic(0)
        store.stop(point) { stops.add(1, ordering: .relaxed) }
        try await store.commit([.putInbox(InboxRow(id: 1, payload: []))])
        let second: [StoreChange] = [.putInbox(InboxRow(id: 2, payload: []))]
        if point == .after(commit: 2) {
            try await store.commit(second)
        } else {
            await #expect(throws: LabError(.stopped, "")) { try await store.commit(second) }
        }
        #expect(stops.load(ordering: .relaxed) == 1)
        await #expect(throws: LabError(.stopped, "")) { try await store.commit([]) }
        await #expect(throws: LabError(.stopped, "")) { try await store.load() }
        let rows = try await store.snapshot().load().inbox.map(\.id)
        #expect(rows == (point == .after(commit: 2) ? [1, 2] : [1]))
    }
}
