import ArgumentParser
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Welcomes: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "List pending invitations.")
        static let view = ResultView.list(
            of: "welcomes",
            [.init("EVENT", "wrapper_event_id"), .init("FROM", "from_pubkey", .person), .init("GROUP", "group_name")],
            none: "No invitations.")

        @OptionGroup var options: ClientOptions

        func remoteRequest() -> JSONObject { ["cmd": "list_pending_welcomes"] }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp()
                let invites = await client.account.core.state.invites
                return ["welcomes": .array(invites.map(ResultJSON.welcome))]
            }
        }
    }
}
