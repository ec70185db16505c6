import ArgumentParser
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Members: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "List the members of a group.")
        static let view = ResultView.list(
            of: "members", [.init("MEMBER", "pubkey", .person), .init("ADMIN", "is_admin")], none: "No members.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption

        func remoteRequest() -> JSONObject { ["cmd": "list_members", "nostr_group_id": .string(target.group)] }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp()
                return .object(ResultJSON.members(try await client.activeChat(target.group)))
            }
        }
    }

    struct Remove: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "Remove members from a group; only an admin can.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @OptionGroup var peers: PeerOptions

        func remoteRequest() -> JSONObject {
            ["cmd": "remove_members", "nostr_group_id": .string(target.group), "peer_pubkeys": peers.json]
        }

        func perform() async throws -> JSONValue {
            try await change(target, options) { .removeGroupMembers(chatID: $0, peers: peers.keys) }
        }
    }

    struct Leave: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Leave a group.",
            discussion: """
                Ends when a relay has this account's proposal; the other members commit it. The only admin of a group \
                names another member, who becomes an admin first: --successor KEY.
                """)

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @Option(help: "The member to make an admin first: npub1… or 64 hex digits.") var successor: PeerArgument?

        func remoteRequest() -> JSONObject {
            var request: JSONObject = ["cmd": "leave_group", "nostr_group_id": .string(target.group)]
            request["successor"] = successor.map { .string($0.key.hex) }
            return request
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try await client.catchUp(needed: true)
                let chat = try await client.activeChat(target.group)
                _ = try await client.account.performInChat(
                    .leaveGroup(chatID: chat.chatID, successor: successor?.key))
                await client.settle()
                return .object(ResultJSON.groupIDs(chat))
            }
        }
    }
}

/// Changes a group; the result is the group after the change.
func change(
    _ target: GroupOption, _ options: ClientOptions, _ action: @escaping @Sendable (ChatID) -> AppAction
) async throws -> JSONValue {
    let group = target.group
    return try await withClient(options) { client in
        try await client.catchUp(needed: true)
        let chatID = try await client.activeChat(group).chatID
        _ = try await client.account.performInChat(action(chatID))
        await client.settle()
        return .object(ResultJSON.groupWithMembers(try await client.chat(chatID)))
    }
}
