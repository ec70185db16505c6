import Appliance
import BotKit
import Foundation

/// The recipes on disk, with full-text search, and their pictures.
struct RecipeBook: Sendable {
    private static let migrations = [
        [
            """
            CREATE TABLE recipe (
                id TEXT NOT NULL, language TEXT NOT NULL, revision INTEGER NOT NULL, title TEXT NOT NULL,
                content BLOB NOT NULL, PRIMARY KEY (id, language))
            """,
            """
            CREATE VIRTUAL TABLE words USING fts5(
                id UNINDEXED, language UNINDEXED, title, ingredients, tags, tokenize = "\(RecipeSearch.tokenizer)")
            """,
            "CREATE TABLE picture (key TEXT PRIMARY KEY, content BLOB NOT NULL)",
        ]
    ]

    private let services: BotServices

    init(_ services: BotServices) { self.services = services }

    private var database: any BotDatabase {
        get async throws(BotError) {
            try await services.database("recipes", .plain, migrations: Self.migrations)
        }
    }

    // MARK: Recipes

    /// Adds or replaces recipes.
    func store(_ recipes: [Recipe]) async throws {
        var statements: [BotStatement] = []
        for recipe in recipes {
            let key: [BotDatabaseValue] = [.text(recipe.id), .text(recipe.language.rawValue)]
            statements.append(BotStatement("DELETE FROM words WHERE id = ? AND language = ?", key))
            let row = RecipeSearch.row(recipe).map { BotDatabaseValue.text($0) }
            statements.append(BotStatement("INSERT INTO words VALUES (?, ?, ?, ?, ?)", key + row))
            let values: [BotDatabaseValue] = [
                .integer(Int64(recipe.revision)), .text(recipe.title), .blob(try APICoding.encode(recipe)),
            ]
            statements.append(BotStatement("REPLACE INTO recipe VALUES (?, ?, ?, ?, ?)", key + values))
        }
        try await database.execute(statements)
    }

    /// Removes the recipes of a language that the cloud no longer has.
    func keepOnly(_ ids: Set<String>, _ language: Language) async throws {
        let database = try await database
        let rows = try await database.rows("SELECT id FROM recipe WHERE language = ?", [.text(language.rawValue)])
        let gone = rows.compactMap { $0.text("id") }.filter { !ids.contains($0) }
        let statements = gone.flatMap { id in
            ["recipe", "words"].map { table in
                BotStatement(
                    "DELETE FROM \(table) WHERE id = ? AND language = ?", [.text(id), .text(language.rawValue)])
            }
        }
        guard !statements.isEmpty else { return }
        try await database.execute(statements)
    }

    func count(_ language: Language) async throws -> Int64 {
        let rows = try await database.rows(
            "SELECT count(*) AS number FROM recipe WHERE language = ?", [.text(language.rawValue)])
        return rows.first?.integer("number") ?? 0
    }

    /// The recipes with all of these words, the best first; all by their titles without words.
    func search(_ text: String, _ language: Language, limit: Int = 10) async throws -> [Recipe] {
        let rows: [BotDatabaseRow]
        let last: [BotDatabaseValue] = [.text(language.rawValue), .integer(Int64(limit))]
        if let query = RecipeSearch.query(text) {
            rows = try await database.rows(
                """
                SELECT recipe.content FROM words JOIN recipe ON recipe.id = words.id
                AND recipe.language = words.language WHERE words MATCH ? AND words.language = ?
                ORDER BY bm25(words, 0, 0, 10, 3, 1), recipe.id LIMIT ?
                """, [.text(query)] + last)
        } else if text.allSatisfy({ $0.isWhitespace }) {
            rows = try await database.rows(
                "SELECT content FROM recipe WHERE language = ? ORDER BY title, id LIMIT ?", last)
        } else {
            rows = []
        }
        return rows.compactMap { Self.recipe($0) }
    }

    /// A recipe in a language, or else in any.
    func recipe(_ id: String, _ language: Language) async throws -> Recipe? {
        let rows = try await database.rows(
            "SELECT content FROM recipe WHERE id = ? ORDER BY language = ? DESC, language LIMIT 1",
            [.text(id), .text(language.rawValue)])
        return rows.first.flatMap { Self.recipe($0) }
    }

    private static func recipe(_ row: BotDatabaseRow) -> Recipe? {
        row.blob("content").flatMap { try? APICoding.decode(Recipe.self, from: $0) }
    }

    // MARK: Pictures

    func picture(_ key: String) async throws -> [UInt8]? {
        let rows = try await database.rows("SELECT content FROM picture WHERE key = ?", [.text(key)])
        return rows.first?.blob("content")
    }

    /// Stores a picture and removes others.
    func store(_ picture: [UInt8], _ key: String, removing evicted: [String]) async throws {
        let insert = BotStatement("REPLACE INTO picture VALUES (?, ?)", [.text(key), .blob(picture)])
        try await database.execute([insert] + evicted.map { Self.removal($0) })
    }

    /// The keys of all pictures on disk.
    func pictureKeys() async throws -> Set<String> {
        Set(try await database.rows("SELECT key FROM picture").compactMap { $0.text("key") })
    }

    func removePictures(_ keys: [String]) async throws {
        guard !keys.isEmpty else { return }
        try await database.execute(keys.map { Self.removal($0) })
    }

    private static func removal(_ key: String) -> BotStatement {
        BotStatement("DELETE FROM picture WHERE key = ?", [.text(key)])
    }
}
