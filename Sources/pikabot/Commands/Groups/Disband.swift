import ArgumentParser
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Disband: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "End a group for all of its members, irrevocably.",
            discussion: """
                Only admins can do this, and only in groups of the second generation. If the group's founder did not \
                allow it, run the command with --enable first.
                """)

        @OptionGroup var options: ClientOptions

        @Option(help: "The group's id, as `pikabot groups` shows it.") var group: String
        @Flag(help: "Do not end the group, only allow its admins to.") var enable = false

        func remoteRequest() -> JSONObject {
            ["cmd": .string(enable ? "enable_disbanding" : "disband_group"), "nostr_group_id": .string(group)]
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp(needed: true)
                let chat = try await client.activeChat(group)
                guard chat.generation == .v2 else {
                    throw CommandError("the group \(group) is of the first generation, which cannot be disbanded")
                }
                let chatID = chat.chatID
                _ = try await client.account.performInChat(
                    enable ? .enableDisbanding(chatID: chatID) : .disbandGroup(chatID: chatID))
                await client.settle()
                return ["nostr_group_id": .string(chat.nostrGroupID)]
            }
        }
    }
}
