import BotKit
import BotStorage
import Errors
import Foundation
import LiveTesting
import Storage
import Testing

@Suite(.bounded) final class BotDatabaseTests {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bot-\(UUID().uuidString)").path
    private let key = SealingKey.random()
    private let menu = ["CREATE TABLE dish (id INTEGER PRIMARY KEY, name, hash BLOB, content BLOB)"]

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private func databases(_ limits: DatabaseLimits = DatabaseLimits(timeout: nil)) -> StoredDatabases {
        StoredDatabases(folder: folder, limits: limits) { [key] in ValueSealer(key, file: $0) }
    }

    @Test func searchesFullText() async throws {
        let databases = databases()
        let menu = try await databases.database(
            "menu", of: "cook", .plain,
            migrations: [["CREATE VIRTUAL TABLE dish USING fts5(name, tokenize = 'unicode61')"]])
        for name in ["Masala Dosa", "Rava Dosa", "मसाला डोसा"] {
            try await menu.execute("INSERT INTO dish VALUES (?)", [.text(name)])
        }
        let rows = try await menu.rows("SELECT name FROM dish WHERE dish MATCH ? ORDER BY name", [.text("dosa")])
        #expect(rows.map { $0.text("name") } == ["Masala Dosa", "Rava Dosa"])
        await databases.close()
    }

    @Test func sealsValuesInFile() async throws {
        let databases = databases()
        let file = try await databases.database("people", of: "cook", .sealed, migrations: [menu])
        try await file.execute(
            "INSERT INTO dish (hash, content) VALUES (?, ?)", [.lookup("peanut"), .sealed("allergic to peanut")])
        let rows = try await file.rows("SELECT * FROM dish WHERE hash = ?", [.lookup("peanut")])
        #expect(rows.first?.text("content") == "allergic to peanut")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/bots/cook/people.sqlite"))
        #expect(bytes.range(of: Data("peanut".utf8)) == nil)
        await #expect(throws: BotError.self) {
            try await file.execute("INSERT INTO dish (name) VALUES (?)", [.text("peanut")])
        }
        await #expect(throws: BotError.self) { try await file.execute("CREATE VIRTUAL TABLE words USING fts5(word)") }
        await databases.close()
    }

    @Test func failedTransactionChangesNothing() async throws {
        let databases = databases()
        let file = try await databases.database("menu", of: "cook", .plain, migrations: [menu])
        await #expect(throws: BotError.self) {
            try await file.execute([
                BotStatement("INSERT INTO dish (id) VALUES (1)"), BotStatement("INSERT INTO dish (id) VALUES (1)"),
            ])
        }
        let rows = try await file.rows("SELECT count(*) AS n FROM dish")
        #expect(rows.first?.integer("n") == 0)
        await databases.close()
    }

    @Test(arguments: [
        "ATTACH 'x.sqlite' AS x", "PRAGMA synchronous = OFF", "VACUUM INTO 'x.sqlite'", "COMMIT", "", "/* x",
        "-- x\nATTACH 'x' AS x", "SELECT 1; SELECT 2", "SELEC 1",
    ])
    func refusesOtherStatements(sql: String) async throws {
        let databases = databases()
        let file = try await databases.database("menu", of: "cook", .plain, migrations: [])
        await #expect(throws: BotError.self) { try await file.execute(sql) }
        await databases.close()
    }

    @Test func migratesOnce() async throws {
        let first = databases()
        _ = try await first.database("menu", of: "cook", .plain, migrations: [menu])
        await first.close()
        let second = databases()
        let more = [menu, ["ALTER TABLE dish ADD COLUMN price INTEGER"]]
        let file = try await second.database("menu", of: "cook", .plain, migrations: more)
        try await file.execute("INSERT INTO dish (price) VALUES (?)", [.integer(7)])
        await second.close()
        let older = databases()
        await #expect(throws: BotError.self) {
            _ = try await older.database("menu", of: "cook", .plain, migrations: [self.menu])
        }
        await #expect(throws: BotError.self) {
            _ = try await older.database("menu", of: "cook", .sealed, migrations: more)
        }
        await older.close()
    }

    @Test func limitsSizeAndRows() async throws {
        var limits = DatabaseLimits(bytes: 256 << 10, timeout: nil)
        limits.rows = 3
        let databases = databases(limits)
        let file = try await databases.database("menu", of: "cook", .plain, migrations: [menu])
        let code = await Self.code { () async throws(BotError) in
            for _ in 0..<100 {
                try await file.execute(
                    "INSERT INTO dish (content) VALUES (?)", [.blob([UInt8](repeating: 1, count: 10_000))])
            }
        }
        #expect(code == .databaseFull)
        let rows = await Self.code { () async throws(BotError) in _ = try await file.rows("SELECT id FROM dish") }
        #expect(rows == .statementTooLong)
        await databases.close()
    }

    @Test func backupIsReadOnly() async throws {
        let databases = databases()
        let file = try await databases.database("menu", of: "cook", .plain, migrations: [menu])
        try await file.execute("INSERT INTO dish (name) VALUES (?)", [.text("Idli")])
        let none = try await databases.backup("menu", of: "cook", .plain)
        let isMissing = none == nil
        #expect(isMissing)
        let failures = await databases.backUp(olderThan: .seconds(60), nowMilliseconds: .max)
        #expect(failures.isEmpty)
        try await file.execute("DELETE FROM dish")
        let copy = try #require(try await databases.backup("menu", of: "cook", .plain))
        let rows = try await copy.rows("SELECT name FROM dish")
        #expect(rows.first?.text("name") == "Idli")
        await #expect(throws: BotError.self) { try await copy.execute("DELETE FROM dish") }
        await databases.close()
    }

    @Test(arguments: ["", "../x", "a/b", "a.b"]) func refusesOtherNames(name: String) async throws {
        let databases = databases()
        await #expect(throws: BotError.self) {
            _ = try await databases.database(name, of: "cook", .plain, migrations: [])
        }
    }

    private static func code(_ body: () async throws(BotError) -> Void) async -> BotError.Code? {
        do throws(BotError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }
}

/// The time limit needs a real clock.
@Suite(.live) struct StatementTimeTests {
    @Test func interruptsLongStatements() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bot-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let key = SealingKey.random()
        let databases = StoredDatabases(folder: folder, limits: DatabaseLimits(timeout: .milliseconds(200))) {
            ValueSealer(key, file: $0)
        }
        let file = try await databases.database("menu", of: "cook", .plain, migrations: [])
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
        do {
            _ = try await file.rows(endless)
            Issue.record("expected a failure")
        } catch {
            #expect(error.code == .statementTooLong)
        }
        let rows = try await file.rows("SELECT 1 AS one")
        #expect(rows.first?.integer("one") == 1)
        await databases.close()
    }
}
