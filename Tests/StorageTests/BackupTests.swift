import Foundation
import GRDB
import LiveTesting
import MLS
import PikaCore
import Testing

@testable import Storage

@Suite(.bounded) struct BackupTests {
    private static let now: Int64 = 1_800_000_000_000
    private let directory: TemporaryDirectory

    init() throws { self.directory = try TemporaryDirectory() }

    private var file: String { self.directory.path + "/backup" }
    private var target: String { self.directory.path + "/deep/restored" }

    private func restore(_ key: SealingKey? = nil, file: String? = nil, to target: String? = nil) throws {
        try StateBackup.restore(
            file ?? self.file, to: target ?? self.target, sealingKey: try key ?? TemporaryDirectory.key,
            nowMilliseconds: Self.now)
    }

    private func openRestored() throws -> AccountStore {
        try AccountStore.open(directory: self.target, sealingKey: TemporaryDirectory.key, account: Sample.account)
    }

    /// The names in the test's folder.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: self.directory.path).sorted()
    }

    private func fill(_ store: AccountStore) async throws {
        try await store.commit([
            .putMessage(try Sample.message("kept")), .putKeyPackage(Sample.keyPackage(1)),
            .putGroupHeader(key: [9], header: Sample.secret(1)), .putInbox(InboxRow(id: 4, payload: [1])),
            .putOutbox(try Sample.outboxRow("o", sequence: 4)), .advanceCursor(name: "c", to: 5),
        ])
    }

    @Test func restoredStateIsACompleteNewInstance() async throws {
        var store = try self.directory.open(account: Sample.account)
        try await self.fill(store)
        let first = try await store.load().instance
        #expect(first.id.count == 16 && first.generation == 0 && !first.isRestored)
        try store.close()
        let size = try StateBackup.write(of: self.directory.state, to: self.file)
        #expect(try Data(contentsOf: URL(fileURLWithPath: self.file)).count == size)
        #expect(try self.directory.mode("backup") == 0o600)
        try self.restore()
        #expect(try self.names() == ["backup", "deep", "state"])
        #expect(try self.directory.mode("deep/restored/state.sqlite") == 0o600)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: self.target).sorted() == ["lock", "state.sqlite"])

        let restored = try self.openRestored()
        let state = try await restored.load()
        #expect(state.instance.generation == Self.now && state.instance.isRestored)
        #expect(state.instance.id.count == 16 && state.instance.id != first.id)
        #expect(state.groups.map(\.key) == [[9]] && state.cursors == ["c": 5])
        #expect(state.keyPackages == [Sample.keyPackage(1)] && state.inbox == [InboxRow(id: 4, payload: [1])])
        #expect(state.outbox == [try Sample.outboxRow("o", sequence: 4)])
        #expect(try await restored.messages(in: GroupID(Sample.bytes(1)), before: nil, limit: 9).count == 1)
        try await restored.commit([.markRestoreHandled])
        try restored.close()
        let settled = try self.openRestored()
        #expect(try await settled.load().instance.isRestored == false)
        #expect(try await settled.load().instance.generation == Self.now)
        let next = StoredInstance(id: [UInt8](repeating: 7, count: 16), generation: Self.now + 1)
        try await settled.commit([.putInstance(next)])
        #expect(try await settled.load().instance == next)
        try settled.close()
        // The original state is unchanged.
        store = try self.directory.open(account: Sample.account)
        #expect(try await store.load().instance == first)
    }

    @Test func backsUpRunningAccountConsistently() async throws {
        let store = try self.directory.open()
        let directory = self.directory.state
        let file = self.file
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in Int64(1)...400 {
                    try await store.commit([
                        .putInbox(InboxRow(id: number, payload: Sample.bytes(1, count: 2000))),
                        .advanceCursor(name: "count", to: number),
                    ])
                }
            }
            group.addTask { for _ in 0..<3 { try StateBackup.write(of: directory, to: file) } }
            try await group.waitForAll()
        }
        try await store.commit([.advanceCursor(name: "later", to: 1)])
        try self.restore()
        let restored = try AccountStore.open(directory: self.target, sealingKey: TemporaryDirectory.key)
        let state = try await restored.load()
        #expect(Int64(state.inbox.count) == state.cursors["count"] ?? 0 && state.cursors["later"] == nil)
    }

    @Test func restoreAdvancesTheInstance() async throws {
        let store = try self.directory.open()
        try await store.pool.write { try $0.execute(sql: "UPDATE meta SET generation = ?", arguments: [Self.now + 7]) }
        try store.close()
        try StateBackup.write(of: self.directory.state, to: self.file)
        var ids: Set<[UInt8]> = []
        for name in ["a", "b"] {
            let target = self.directory.path + "/" + name
            try self.restore(to: target)
            let store = try AccountStore.open(directory: target, sealingKey: TemporaryDirectory.key)
            let instance = try await store.load().instance
            #expect(instance.generation == Self.now + 8)
            ids.insert(instance.id)
        }
        #expect(ids.count == 2)
    }

    @Test func migratedStateBecomesTheFirstInstance() async throws {
        let store = try self.directory.open()
        try await self.fill(store)
        try await store.pool.write { database in
            for column in ["instance", "generation", "restored"] {
                try database.execute(sql: "ALTER TABLE meta DROP COLUMN \(column)")
            }
            try database.execute(sql: "DROP INDEX message_age")
            try database.execute(sql: "DELETE FROM grdb_migrations WHERE identifier IN ('instance', 'retention')")
        }
        try store.close()
        // A backup of it can be restored too.
        try StateBackup.write(of: self.directory.state, to: self.file)
        try self.restore()
        let restored = try AccountStore.open(directory: self.target, sealingKey: TemporaryDirectory.key)
        #expect(try await restored.load().instance.isRestored)
        let reopened = try self.directory.open()
        let instance = try await reopened.load().instance
        #expect(instance.id.count == 16 && instance.generation == 0 && !instance.isRestored)
        #expect(try await reopened.load().inbox.count == 1)
    }

    /// Links planted by another user of the same folder, or left by an earlier process with the same id.
    @Test func refusesPlantedSymbolicLinks() throws {
        try self.directory.open().close()
        let victim = self.directory.path + "/victim"
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        let planted = ["copy", "new"].map { "\(self.file).\(getpid()).\($0)" } + [self.file]
        for name in planted { #expect(symlink(victim, name) == 0) }
        try StateBackup.write(of: self.directory.state, to: self.file)
        #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
        // The file itself is replaced, and no temporary folder or file is left.
        #expect(try self.directory.mode("backup") == 0o600)
        #expect(
            try self.names()
                == (planted.map { String($0.split(separator: "/").last ?? "") } + ["state", "victim"]).sorted())
        try self.restore()
        #expect(FileManager.default.contents(atPath: victim) == Data("precious".utf8))
    }

    @Test func ignoresLeftoverDrafts() throws {
        _ = try self.backup()
        try FileManager.default.createDirectory(atPath: self.target, withIntermediateDirectories: true)
        #expect(chmod(self.target, 0o700) == 0)
        let leftover = "\(self.target)/restored.\(getpid()).sqlite"
        try Data([1]).write(to: URL(fileURLWithPath: leftover))
        try self.restore()
        try self.openRestored().close()
        let key = self.directory.path + "/sealing.key"
        try Data([1]).write(to: URL(fileURLWithPath: "\(key).\(getpid()).new"))
        _ = try SealingKey.loadOrCreate(file: key)
    }

    // MARK: Refusals

    private func expectRefusal(_ code: StoreError.Code, _ body: () throws -> Void) throws {
        let before = try self.names()
        let error = #expect(throws: StoreError.self) { try body() }
        #expect(error?.code == code, "\(error.map(String.init(describing:)) ?? "none")")
        #expect(try self.names() == before)
        #expect(!FileManager.default.fileExists(atPath: self.target))
    }

    private func backup() throws -> [UInt8] {
        try self.directory.open().close()
        try StateBackup.write(of: self.directory.state, to: self.file)
        try FileManager.default.createDirectory(
            atPath: self.directory.path + "/deep", withIntermediateDirectories: true)
        return Array(try Data(contentsOf: URL(fileURLWithPath: self.file)))
    }

    @Test func refusesDamagedBackupsWithoutLeftovers() throws {
        let bytes = try self.backup()
        let database = BackupHeader.count
        var files: [[UInt8]] = [[], Array("SQLite format 3\0".utf8), Array(bytes.dropFirst(database)), bytes + [0]]
        for length in [1, 15, 16, 20, 91, database - 1, database, database + 1, bytes.count / 2, bytes.count - 1] {
            files.append(Array(bytes.prefix(length)))
        }
        for place in [0, 15, 20, 27, 30, 59, 61, 91, database, database + 100, bytes.count - 1] {
            var damaged = bytes
            damaged[place] ^= 0x10
            files.append(damaged)
        }
        for content in files {
            try Data(content).write(to: URL(fileURLWithPath: self.file))
            try self.expectRefusal(.badBackup) { try self.restore() }
        }
        try self.expectRefusal(.badBackup) { try self.restore(file: self.directory.path) }
    }

    /// Valid by its hashes, but not an account's database.
    @Test func refusesForeignBackup() throws {
        _ = try self.backup()
        for content in [Sample.bytes(3, count: 9000), []] {
            let header = BackupHeader(length: UInt64(content.count), digest: BackupDigest.of(content))
            try Data(header.bytes + content).write(to: URL(fileURLWithPath: self.file))
            try self.expectRefusal(.badBackup) { try self.restore() }
        }
    }

    @Test func refusesLaterVersion() throws {
        var bytes = try self.backup()
        bytes[19] = 2
        try Data(bytes).write(to: URL(fileURLWithPath: self.file))
        try self.expectRefusal(.newerFormat) { try self.restore() }
    }

    @Test func refusesWrongKey() throws {
        _ = try self.backup()
        try self.expectRefusal(.wrongKey) { try self.restore(SealingKey(bytes: Sample.bytes(8))) }
    }

    @Test func refusesToOverwriteExistingState() async throws {
        _ = try self.backup()
        let before = try self.directory.contents()
        try self.expectRefusal(.stateExists) { try self.restore(to: self.directory.state) }
        #expect(try self.directory.contents()["state.sqlite"] == before["state.sqlite"])
        let store = try self.directory.open()
        try self.expectRefusal(.locked) { try self.restore(to: self.directory.state) }
        try store.close()
    }

    @Test func refusesBackupWithoutState() throws {
        try FileManager.default.createDirectory(
            atPath: self.directory.state, withIntermediateDirectories: true)
        try self.expectRefusal(.noState) { try StateBackup.write(of: self.directory.state, to: self.file) }
        try self.expectRefusal(.noState) { try StateBackup.write(of: self.target, to: self.file) }
        try Data(Sample.bytes(1, count: 8192)).write(
            to: URL(fileURLWithPath: self.directory.state + "/state.sqlite"))
        try self.expectRefusal(.corrupt) { try StateBackup.write(of: self.directory.state, to: self.file) }
    }

    @Test func failedBackupKeepsThePreviousOne() throws {
        let bytes = try self.backup()
        try Data(Sample.bytes(1, count: 8192)).write(
            to: URL(fileURLWithPath: self.directory.state + "/state.sqlite"))
        try self.expectRefusal(.corrupt) { try StateBackup.write(of: self.directory.state, to: self.file) }
        #expect(Array(try Data(contentsOf: URL(fileURLWithPath: self.file))) == bytes)
    }
}
