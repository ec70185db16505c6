import Foundation
import LiveTesting
import Nostr
import PikaCore
import Synchronization
import Testing

@testable import MLS
@testable import Storage

@Suite struct DurabilityTests {
    @Test func reopenedStoreKeepsEverything() async throws {
        let directory = try TemporaryDirectory()
        var store = try directory.open()
        let message = try Sample.message("x")
        let outbox = try Sample.outboxRow("o", sequence: 4)
        let waiting = WaitingEvent(event: Sample.event("w"), arrivedAt: 1)
        let invite = StoredInvite(wrapper: try Sample.id(2), rumor: Sample.rumor("i"))
        try await store.commit([
            .putKeyPackage(Sample.keyPackage(1)), .putGroupHeader(key: [9], header: Sample.secret(1)),
            .updateGroup(key: [9], Sample.changes([.core: Sample.secret(2)])), .putMessage(message),
            .putSeen(try Sample.id(3), at: 1), .putWaiting(waiting), .putInvite(invite),
            .putInbox(InboxRow(id: 1, payload: [1])), .putOutbox(outbox), .advanceCursor(name: "c", to: 5),
            .putValue(scope: "s", key: "k", value: [7]),
        ])
        for _ in 0..<2 {
            try store.close()
            store = try directory.open()
            let state = try await store.load()
            #expect(state.keyPackages.map(\.bundle) == [Sample.keyPackage(1).bundle])
            #expect(state.groups.map(\.key) == [[9]])
            #expect(state.groups.first?.records == [.core: Sample.secret(2)])
            #expect(state.waiting == [waiting])
            #expect(state.invites == [invite])
            #expect(state.inbox == [InboxRow(id: 1, payload: [1])])
            #expect(state.outbox == [outbox])
            #expect(state.cursors == ["c": 5])
            #expect(state.seen == [try Sample.id(3)])
            #expect(try await store.messages(in: message.groupID, before: nil, limit: 5) == [message])
            #expect(try await store.value(scope: "s", key: "k") == [7])
        }
    }

    /// Commits until another thread kills the process, at any point.
    @Test(arguments: [1, 40, 300])
    func committedChangesSurviveAKill(_ acknowledged: Int64) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, acknowledged = acknowledged as Int64] in
            try await commitUntilKilled(path, after: acknowledged)
        }
        let store = try directory.open()
        let state = try await store.load()
        let count = Int64(state.inbox.count)
        #expect(count >= acknowledged)
        #expect(state.inbox.map(\.id) == Array(1...count))
        #expect(state.cursors == ["count": count])
        let messages = try await store.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: .max)
        #expect(messages.map(\.rumor.createdAt.seconds) == (1...count).reversed())
        #expect(state.groups.first?.records == [.core: Sample.secret(Int(count))])
        try await store.commit([.putInbox(InboxRow(id: count + 1, payload: []))])
    }

    @Test func killedProcessReleasesItsLock() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let lock = try StateDirectoryLock(directory: path, program: "doomed")
            kill(getpid(), SIGKILL)
            withExtendedLifetime(lock) {}
        }
        #expect(try String(contentsOfFile: path + "/lock", encoding: .utf8).contains(" doomed\n"))
        _ = try StateDirectoryLock(directory: path, program: "next")
    }
}

private final class Progress: Sendable {
    let count = Mutex(Int64(0))
}

private func commitUntilKilled(_ path: String, after acknowledged: Int64) async throws {
    let store = try AccountStore.open(directory: path + "/state", sealingKey: TemporaryDirectory.key)
    let done = Progress()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
            try await eventually("\(acknowledged) commits") { done.count.withLock { $0 } >= acknowledged }
            kill(getpid(), SIGKILL)
        }
        for number in Int64(1)...100_000 {
            try await store.commit([
                .updateGroup(key: [1], Sample.changes([.core: Sample.secret(Int(number))])),
                .putMessage(try Sample.message("number \(number)", at: UnixTime(number))),
                .putInbox(InboxRow(id: number, payload: Sample.bytes(Int(number), count: 300))),
                .advanceCursor(name: "count", to: number),
            ])
            done.count.withLock { $0 = number }
        }
    }
}

/// The log of a store keeps nothing that was deleted, although no further commit follows.
@Suite(.live) struct RestingStoreTests {
    @Test func logIsErased() async throws {
        let directory = try TemporaryDirectory()
        let store = try directory.open()
        let group = Sample.bytes(1)
        for number in 1...3 {
            try await store.commit([.updateGroup(key: group, Sample.changes([.core: Sample.secret(number)]))])
        }
        try await eventually("an empty log") { try directory.contents()["state.sqlite-wal"]?.isEmpty == true }
        try await store.commit([.updateGroup(key: group, Sample.changes([.core: Sample.secret(4)]))])
        try await eventually("an empty log again") { try directory.contents()["state.sqlite-wal"]?.isEmpty == true }
        try store.close()
        #expect(try await directory.open().load().groups.first?.records == [.core: Sample.secret(4)])
    }
}
