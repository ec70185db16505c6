import ArgumentParser
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Messages: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "Show the newest messages of a group.")
        static let view = ResultView.list(
            of: "messages",
            [
                .init("TIME", "created_at", .time), .init("FROM", "from_pubkey", .person), .init("ID", "message_id"),
                .init("FILES", "media", .files), .init("MESSAGE", "content"),
            ],
            none: "No messages.")

        @OptionGroup var options: ClientOptions

        @Option(help: "The group's id, as `pikabot groups` shows it.") var group: String
        @Option(help: "Maximum number of messages, newest first.") var limit = 50

        func validate() throws {
            guard limit > 0 else { throw ValidationError("--limit: expected a number of at least 1") }
        }

        func remoteRequest() -> JSONObject {
            ["cmd": "get_messages", "nostr_group_id": .string(group), "limit": .integer(Int64(limit))]
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp()
                let chat = try await client.chat(group)
                let messages = try await client.readableMessages(of: chat.chatID, limit: limit)
                return ["messages": .array(messages.map(ResultJSON.message))]
            }
        }
    }
}

extension Client {
    /// Returns the newest readable messages, newest first.
    func readableMessages(of chatID: ChatID, limit: Int) async throws -> [StoredMessage] {
        let page = 200
        var found: [StoredMessage] = []
        var before: StoredMessage.Position?
        while found.count < limit {
            let messages = try await account.core.messages(chatID: chatID, before: before, limit: page)
            found += messages.filter(\.rumor.kind.isReadable)
            guard messages.count == page else { break }
            before = messages.last?.position
        }
        return Array(found.prefix(limit))
    }
}
