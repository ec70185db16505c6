import ArgumentParser
import BotRuntime
import Daemon
import Nostr
import PikaCore

extension Pikabot {
    struct Groups: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "List the groups that the account is in.")
        static let view = ResultView.list(
            of: "groups",
            [
                .init("GROUP", "nostr_group_id"), .init("PROTOCOL", "protocol"), .init("STATE", "convergence"),
                .init("NAME", "name"), .init("ABOUT", "description"),
            ],
            none: "No groups yet. `pikabot send --to npub1… --content hello` starts one.")

        @OptionGroup var options: ClientOptions

        func remoteRequest() -> JSONObject { ["cmd": "list_groups"] }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp()
                let chats = await client.account.core.state.chatList.filter(\.isListed)
                return ["groups": .array(chats.map(ResultJSON.group))]
            }
        }
    }
}
