package import BotKit

/// Keeps the notes of a chat in a database, and finds them by words.
///
/// `/note TEXT` adds a note, `/find WORDS` lists the five best matches. The file is plain: full-text search needs the
/// words in the clear.
package struct NotesBot: Bot {
    /// The bot's name in configurations.
    package static let name = "notes"

    private static let migrations = [
        ["CREATE VIRTUAL TABLE note USING fts5(chat UNINDEXED, content, tokenize = 'unicode61')"]
    ]

    /// Creates the bot, which has no settings.
    package init(settings: BotSettings) throws {}

    /// The handlers of the two commands.
    package var handlers: [Handler] {
        OnCommand("note", help: "Keeps a note.", arguments: [.rest("text")]) { command, context in
            let notes = try await context.services.database("notes", .plain, migrations: Self.migrations)
            let text = command.text
            try await notes.execute(
                "INSERT INTO note (chat, content) VALUES (?, ?)", [.text(context.chatID.rawValue), .text(text)])
            context.reply("kept")
        }
        OnCommand("find", help: "Finds notes.", arguments: [.rest("words")]) { command, context in
            let notes = try await context.services.database("notes", .plain, migrations: Self.migrations)
            // Each word as a quoted string, so that none is read as an operator of FTS5.
            let words = command.text.split(separator: " ").map {
                "\"\($0.replacing("\"", with: "\"\""))\""
            }
            let rows = try await notes.rows(
                "SELECT content FROM note WHERE note MATCH ? AND chat = ? ORDER BY rank LIMIT 5",
                [.text(words.joined(separator: " ")), .text(context.chatID.rawValue)])
            let found = rows.compactMap { $0.text("content") }
            context.reply(found.isEmpty ? "nothing found" : found.joined(separator: "\n"))
        }
    }
}
