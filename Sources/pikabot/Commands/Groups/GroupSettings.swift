import ArgumentParser
import BotProgram
import Nostr
import PikaCore

extension Pikabot {
    struct Rename: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "Change the name of a group; only an admin can.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @Option(help: "The new name.") var name: String

        func remoteRequest() -> JSONObject {
            ["cmd": "rename_group", "nostr_group_id": .string(target.group), "name": .string(name)]
        }

        func perform() async throws -> JSONValue {
            let name = name
            return try await change(target, options) { .renameGroup(chatID: $0, name: name) }
        }
    }

    struct Describe: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the description of a group; only an admin can.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @Option(help: "The new description.") var description: String

        func remoteRequest() -> JSONObject {
            ["cmd": "describe_group", "nostr_group_id": .string(target.group), "description": .string(description)]
        }

        func perform() async throws -> JSONValue {
            let description = description
            return try await change(target, options) { .setGroupDescription(chatID: $0, description: description) }
        }
    }

    struct Admins: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the admins of a group, or replace their list.",
            discussion: "The list must contain this account, unless it gives up its role. Only an admin can change it.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @Option(
            name: .customLong("set"), parsing: .upToNextOption,
            help: "The new admins: npub1… or 64 hex digits; may be repeated.")
        var admins: [PeerArgument] = []

        private var keys: [PublicKey] { admins.map(\.key) }

        func remoteRequest() -> JSONObject {
            let group = JSONValue.string(target.group)
            guard !admins.isEmpty else { return ["cmd": "list_members", "nostr_group_id": group] }
            return [
                "cmd": "set_group_admins", "nostr_group_id": group,
                "admin_pubkeys": .array(keys.map { .string($0.hex) }),
            ]
        }

        func perform() async throws -> JSONValue {
            let keys = keys
            guard keys.isEmpty else {
                return try await change(target, options) { .setGroupAdmins(chatID: $0, admins: keys) }
            }
            return try await withClient(options) { client in
                try await client.catchUp()
                let chat = try await client.activeChat(target.group)
                return .object(ResultJSON.members(chat))
            }
        }
    }

    struct Relays: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the relays of a group's events, or replace them; only an admin can.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @Option(
            name: .customLong("set"), parsing: .upToNextOption,
            help: "The new relays, ws:// or wss://; may be repeated.")
        var texts: [String] = []

        func validate() throws { _ = try relays() }

        private func relays() throws -> [RelayURL] {
            try texts.map { text in
                do throws(NostrError) { return try RelayURL(text) } catch {
                    throw ValidationError("--set: \(error.message)")
                }
            }
        }

        func remoteRequest() throws -> JSONObject {
            guard !texts.isEmpty else {
                throw CommandError("--remote shows no relays; `pikabot relays` without it does, or add --set")
            }
            return [
                "cmd": "set_group_relays", "nostr_group_id": .string(target.group),
                "relays": .array(texts.map { .string($0) }),
            ]
        }

        func perform() async throws -> JSONValue {
            let relays = try relays()
            guard relays.isEmpty else {
                return try await change(target, options) { .setGroupRelays(chatID: $0, relays: relays) }
            }
            return try await withClient(options) { client in
                try await client.catchUp()
                let chat = try await client.activeChat(target.group)
                var result = ResultJSON.groupIDs(chat)
                result["relays"] = .array(chat.relays.map { .string($0.string) })
                return .object(result)
            }
        }
    }
}
