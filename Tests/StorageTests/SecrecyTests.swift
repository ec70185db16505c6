import Foundation
import GRDB
import Nostr
import PikaCore
import Testing

@testable import MLS
@testable import Storage

@Suite struct SecrecyTests {
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    @Test func filesContainNoPlaintext() async throws {
        let store = try self.directory.open(account: Sample.account)
        let text = "meet me at the old lighthouse at dawn"
        let secret = Sample.secret(60)
        let package = Sample.keyPackage(3)
        let message = try Sample.message(text)
        let group = message.groupID
        let outbox = try Sample.outboxRow("outbox-row-of-the-lighthouse", sequence: 1)
        let changes: [StoreChange] = [
            .putKeyPackage(package), .putGroupHeader(key: group.bytes, header: secret),
            .updateGroup(key: group.bytes, Sample.changes([.core: secret])), .putMessage(message),
            .putMedia(
                StoredMedia(
                    groupID: group, messageID: message.id, index: 0,
                    reference: Tag("imeta", "filename lighthouse.png"), keys: [secret])),
            .putWaiting(WaitingEvent(event: Sample.event("lighthouse, waiting"), arrivedAt: 1)),
            .putInvite(StoredInvite(wrapper: try Sample.id(2), rumor: Sample.rumor("lighthouse, invited"))),
            .putInbox(InboxRow(id: 1, payload: Array(text.utf8))), .putOutbox(outbox),
            .putValue(scope: "scope-of-a-bot", key: "key-of-a-bot", value: Array(text.utf8)),
        ]
        try await store.commit(changes)
        let hidden: [[UInt8]] = [
            Array(text.utf8), Array("lighthouse".utf8), secret.copyBytes(), package.bundle.copyBytes(), group.bytes,
            message.id.bytes, Array(message.id.hex.utf8), Array("scope-of-a-bot".utf8), Array("key-of-a-bot".utf8),
            Sample.account.bytes, Array(Sample.account.hex.utf8), Sample.bytes(7),
        ]
        func search() throws {
            for (name, content) in try self.directory.contents() {
                for needle in hidden { #expect(content.range(of: Data(needle)) == nil, "in \(name)") }
            }
        }
        // In the log, or in the database if a checkpoint followed already.
        #expect(try self.directory.contents().contains { $0.value.range(of: Data(package.reference)) != nil })
        try search()
        try store.close()
        #expect(try self.directory.contents()["state.sqlite"]?.range(of: Data(package.reference)) != nil)
        try search()
    }

    @Test func checkpointErasesDeletedData() async throws {
        let store = try self.directory.open()
        let group = Sample.bytes(1)
        func record(_ number: Int) -> StoreChange {
            .updateGroup(key: group, Sample.changes([.core: Sample.secret(number, count: 700)]))
        }
        try await store.commit([record(1), .putKeyPackage(Sample.keyPackage(2))])
        let old = try await store.pool.read { database in
            try Data.fetchAll(
                database, sql: "SELECT content FROM group_record UNION ALL SELECT bundle FROM key_package")
        }
        #expect(old.count == 2)
        try await store.commit([record(3), .deleteKeyPackage(reference: Sample.keyPackage(2).reference)])
        try await store.checkpoint()
        let files = try self.directory.contents()
        #expect(files["state.sqlite-wal"]?.isEmpty == true)
        for (name, content) in files {
            for blob in old { #expect(content.range(of: blob.suffix(60)) == nil, "in \(name)") }
        }
    }

    @Test(arguments: [
        ("message", "UPDATE message SET content = (SELECT content FROM message ORDER BY id LIMIT 1)"),
        ("message", "UPDATE message SET created_at = created_at + 1"),
        ("mls_group", "UPDATE mls_group SET header = (SELECT header FROM mls_group ORDER BY id LIMIT 1)"),
        ("mls_group", "UPDATE mls_group SET group_id = (SELECT group_id FROM mls_group ORDER BY id LIMIT 1)"),
        ("mls_group", "UPDATE mls_group SET header = group_id"),
        ("group_record", "UPDATE group_record SET content = (SELECT content FROM group_record LIMIT 1)"),
        ("group_record", "UPDATE group_record SET name = 'node/' || group_row"),
        ("group_record", "UPDATE group_record SET content = zeroblob(10)"),
        ("group_record", "UPDATE group_record SET content = zeroblob(100)"),
        ("group_record", "UPDATE group_record SET name = 'nonsense'"),
        ("key_package", "UPDATE key_package SET reference = zeroblob(id)"),
        ("inbox", "UPDATE inbox SET id = id + 10"),
        ("outbox", "UPDATE outbox SET content = (SELECT content FROM outbox ORDER BY id LIMIT 1)"),
        ("waiting", "UPDATE waiting SET event_id = zeroblob(32)"),
        ("invite", "UPDATE invite SET wrapper = zeroblob(32)"),
        ("stored_value", "UPDATE stored_value SET content = (SELECT max(content) FROM stored_value)"),
        ("seen", "UPDATE seen SET event_id = zeroblob(31) WHERE id = 1"),
        ("refused", "UPDATE refused SET event_id = zeroblob(31) WHERE id = 1"),
    ])
    func movedOrChangedValuesAreRefused(_ table: String, _ change: String) async throws {
        let store = try self.directory.open()
        try await store.commit(try Self.twoOfEach())
        try await store.pool.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA foreign_keys = OFF")
            try database.execute(sql: change)
        }
        let error = await #expect(throws: StoreError.self) {
            _ = try await store.load()
            for group in 1...2 { _ = try await store.messages(in: GroupID(Sample.bytes(group)), before: nil, limit: 9) }
            for key in ["1", "2"] { _ = try await store.value(scope: "s", key: key) }
        }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("table \(table)") == true)
        #expect(error?.message.contains("state.sqlite: ") == true)
    }

    @Test func refusesValuesOfAnotherDatabase() async throws {
        let other = try TemporaryDirectory()
        for directory in [self.directory, other] {
            let store = try directory.open()
            try await store.commit([.putInbox(InboxRow(id: 1, payload: [1]))])
            try store.close()
        }
        let store = try self.directory.open()
        try await store.pool.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH DATABASE ? AS other", arguments: [other.state + "/state.sqlite"])
            try database.execute(sql: "UPDATE main.inbox SET payload = (SELECT payload FROM other.inbox)")
        }
        await #expect(throws: StoreError(.corrupt, "")) { try await store.load() }
    }

    @Test func valuesOfAnotherTypeAreErrors() async throws {
        let store = try self.directory.open()
        try await store.commit(try Self.twoOfEach())
        // A table without STRICT, as in a damaged file.
        try await store.pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE copy (name, value); INSERT INTO copy VALUES (x'00', 'text'), ('a', 1.5);
                    DROP TABLE cursor; ALTER TABLE copy RENAME TO cursor;
                    """)
        }
        let error = await #expect(throws: StoreError.self) { try await store.load() }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains("table cursor") == true)
    }

    private static func twoOfEach() throws -> [StoreChange] {
        try (1...2).flatMap { number -> [StoreChange] in
            let group = Sample.bytes(number)
            return [
                .putKeyPackage(Sample.keyPackage(number)),
                .putGroupHeader(key: group, header: Sample.secret(number)),
                .updateGroup(key: group, Sample.changes([.core: Sample.secret(number)])),
                .putMessage(try Sample.message("text \(number)", in: number)),
                .putInbox(InboxRow(id: Int64(number), payload: [1])),
                .putOutbox(try Sample.outboxRow("row \(number)", sequence: Int64(number))),
                .putValue(scope: "s", key: "\(number)", value: [UInt8(number)]),
                .putSeen(try Sample.id(number), at: 1), .putRefused(try Sample.id(number), at: 1),
                .advanceCursor(name: "\(number)", to: 1),
            ]
        } + [
            .putWaiting(WaitingEvent(event: Sample.event("waiting"), arrivedAt: 1)),
            .putInvite(StoredInvite(wrapper: try Sample.id(1), rumor: Sample.rumor("invite"))),
        ]
    }
}
