import BotKit
import BotStorage
import Foundation
import GRDB
import LiveTesting
import Nostr
import PikaCore
import Testing

@testable import Storage

/// Backups of an account with the databases of its bots.
@Suite(.bounded) final class BotBackupTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bot-\(UUID().uuidString)").path
    private let key = SealingKey.random()
    private let menu = ["CREATE TABLE dish (id INTEGER PRIMARY KEY, name, content BLOB)"]
    private var state: String { folder + "/state" }
    private var target: String { folder + "/restored" }
    private var file: String { folder + "/backup" }

    init() throws {
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    /// Runs `body` with an account's databases, and closes everything.
    private func withDatabases<Result>(
        in directory: String, _ body: (StoredDatabases) async throws -> Result
    ) async throws -> Result {
        let store = try AccountStore.open(directory: directory, sealingKey: key)
        let databases = StoredDatabases(folder: directory, limits: DatabaseLimits(timeout: nil)) {
            store.valueSealer(file: $0)
        }
        let result = try await body(databases)
        await databases.close()
        try store.close()
        return result
    }

    private func restore(_ file: String? = nil) throws {
        try StateBackup.restore(file ?? self.file, to: target, sealingKey: key, nowMilliseconds: 1_800_000_000_000)
    }

    private func names(in folder: String) -> [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: folder).sorted()) ?? []
    }

    @Test func filesAreRestoredToTheirPlaces() async throws {
        try await withDatabases(in: state) { databases in
            let plain = try await databases.database(
                "menu", of: "cook", .plain,
                migrations: [["CREATE VIRTUAL TABLE dish USING fts5(name, tokenize = 'unicode61')"]])
            try await plain.execute("INSERT INTO dish VALUES ('masala dosa')")
            let sealed = try await databases.database("people", of: "waiter#2", .sealed, migrations: [menu])
            try await sealed.execute("INSERT INTO dish (content) VALUES (?)", [.sealed("peanut")])
            // Several pieces.
            let large = try await databases.database("large", of: "cook", .plain, migrations: [menu])
            try await large.execute(
                "INSERT INTO dish (content) VALUES (?)", [.blob([UInt8](repeating: 7, count: 3_000_000))])
            try StateBackup.write(of: state, to: file)
            // Later changes are not in it.
            try await plain.execute("INSERT INTO dish VALUES ('later')")
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)).range(of: Data("peanut".utf8)) == nil)
        try restore()
        let expected = [
            "bots", "bots/cook", "bots/cook/large.sqlite", "bots/cook/menu.sqlite", "bots/waiter#2",
            "bots/waiter#2/people.sqlite", "lock", "state.sqlite",
        ]
        #expect(names(in: target) == expected)
        for name in ["bots/cook/menu.sqlite", "bots/waiter#2/people.sqlite"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(target)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
        let account = try DatabaseQueue(path: "\(target)/state.sqlite")
        #expect(try await account.read { try !$0.tableExists("backup_bot_file") })
        try account.close()
        try await withDatabases(in: target) { databases in
            let plain = try await databases.database("menu", of: "cook", .plain, migrations: [[], []])
            let dishes = try await plain.rows("SELECT name FROM dish WHERE dish MATCH 'dosa'")
            #expect(dishes.map { $0.text("name") } == ["masala dosa"])
            let all = try await plain.rows("SELECT name FROM dish")
            #expect(all.count == 1)
            let sealed = try await databases.database("people", of: "waiter#2", .sealed, migrations: [menu])
            let people = try await sealed.rows("SELECT content FROM dish")
            #expect(people.first?.text("content") == "peanut")
            let large = try await databases.database("large", of: "cook", .plain, migrations: [menu])
            let content = try await large.rows("SELECT length(content) AS n FROM dish")
            #expect(content.first?.integer("n") == 3_000_000)
        }
    }

    @Test func botMayWriteDuringBackup() async throws {
        try await withDatabases(in: state) { databases in
            let plain = try await databases.database("menu", of: "cook", .plain, migrations: [menu])
            let (state, file) = (state, file)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for _ in 0..<200 {
                        try await plain.execute([
                            BotStatement("INSERT INTO dish (name) VALUES ('a')"),
                            BotStatement("INSERT INTO dish (name) VALUES ('b')"),
                        ])
                    }
                }
                group.addTask { for _ in 0..<3 { try StateBackup.write(of: state, to: file) } }
                try await group.waitForAll()
            }
        }
        try restore()
        try await withDatabases(in: target) { databases in
            let plain = try await databases.database("menu", of: "cook", .plain, migrations: [menu])
            let rows = try await plain.rows("SELECT count(*) AS n FROM dish")
            let count = try #require(rows.first?.integer("n"))
            #expect(count % 2 == 0)
        }
    }

    @Test func damagedFileIsNamedAndNothingWritten() async throws {
        try await withDatabases(in: state) { _ = try await $0.database("menu", of: "cook", .plain, migrations: [menu]) }
        let path = "\(state)/bots/cook/menu.sqlite"
        try Data([UInt8](repeating: 9, count: 8192)).write(to: URL(fileURLWithPath: path))
        let error = #expect(throws: StoreError.self) { try StateBackup.write(of: state, to: file) }
        #expect(error?.code == .corrupt && error?.message.contains("bots/cook/menu.sqlite") == true)
        #expect(names(in: folder).filter { !$0.hasPrefix("state") } == [])
    }

    @Test func existingFileIsNotOverwritten() async throws {
        try await withDatabases(in: state) { _ = try await $0.database("menu", of: "cook", .plain, migrations: [menu]) }
        try StateBackup.write(of: state, to: file)
        try FileManager.default.createDirectory(atPath: "\(target)/bots/cook", withIntermediateDirectories: true)
        try Data([1]).write(to: URL(fileURLWithPath: "\(target)/bots/cook/menu.sqlite"))
        let error = #expect(throws: StoreError.self) { try restore() }
        #expect(error?.code == .stateExists)
        #expect(try Data(contentsOf: URL(fileURLWithPath: "\(target)/bots/cook/menu.sqlite")) == Data([1]))
        #expect(!FileManager.default.fileExists(atPath: "\(target)/state.sqlite"))
    }

    @Test func forgedNamesAreRefused() async throws {
        try await withDatabases(in: state) { _ = try await $0.database("menu", of: "cook", .plain, migrations: [menu]) }
        try StateBackup.write(of: state, to: file)
        let content = try Data(contentsOf: URL(fileURLWithPath: file)).dropFirst(BackupHeader.count)
        let forged = "\(folder)/forged.sqlite"
        for name in ["../escape.sqlite", "a/b/c.sqlite", "/tmp/x.sqlite", "cook/.sqlite", "cook/menu.db", ""] {
            try Data(content).write(to: URL(fileURLWithPath: forged))
            let database = try DatabaseQueue(path: forged)
            try await database.write {
                try $0.execute(sql: "UPDATE backup_bot_file SET name = ?", arguments: [name])
            }
            try database.close()
            let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: forged)))
            let header = BackupHeader(length: UInt64(bytes.count), digest: BackupDigest.of(bytes))
            try Data(header.bytes + bytes).write(to: URL(fileURLWithPath: file))
            let error = #expect(throws: StoreError.self) { try restore() }
            #expect(error?.code == .badBackup, "\(name)")
            #expect(names(in: target).isEmpty, "\(name)")
        }
    }

    @Test func tableOfOlderRestoreIsReplaced() async throws {
        try await withDatabases(in: state) { _ = try await $0.database("menu", of: "cook", .plain, migrations: [menu]) }
        let kept = try DatabaseQueue(path: "\(state)/state.sqlite")
        try await kept.write { try $0.execute(sql: "CREATE TABLE backup_bot_file (name TEXT)") }
        try kept.close()
        try StateBackup.write(of: state, to: file)
        try restore()
        #expect(names(in: target).contains("bots/cook/menu.sqlite"))
    }
}
