import ArgumentParser
import BotProgram
import BotRuntime
import Nostr
import PikaCore

extension Pikabot {
    struct Create: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a group with several peers.",
            discussion: "This account is the group's admin. `pikabot invite` creates a direct chat with one peer.")

        @OptionGroup var options: ClientOptions

        @Option(help: "Name of the group.") var name: String
        @OptionGroup var invitees: InviteeOptions
        @Option(
            name: .customLong("protocol"),
            help: "Generation of Marmot: v1, v2, or auto, which is v2 if all peers support it (default: auto).")
        var groupProtocol: ProtocolArgument?

        func remoteRequest() -> JSONObject {
            var request = invitees.request("init_group")
            request["group_name"] = .string(name)
            request["protocol"] = groupProtocol.map { .string($0.groupProtocol.rawValue) }
            return request
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try invitees.requireOthers(than: client)
                try await client.catchUp(needed: true)
                Console.progress("looking for the peers' key packages…")
                let (chatID, left) = try await client.inviting(
                    .createGroupChat(
                        name: name, peers: invitees.keys, missing: invitees.missing,
                        groupProtocol: groupProtocol?.groupProtocol))
                await client.settle()
                var result = ResultJSON.groupWithMembers(try await client.chat(chatID))
                result["left_out"] = ResultJSON.leftOut(left)
                return .object(result)
            }
        }
    }

    struct Add: ClientCommand {
        static let configuration = CommandConfiguration(abstract: "Add members to a group; only an admin can.")

        @OptionGroup var options: ClientOptions
        @OptionGroup var target: GroupOption
        @OptionGroup var invitees: InviteeOptions

        func remoteRequest() -> JSONObject {
            var request = invitees.request("add_members")
            request["nostr_group_id"] = .string(target.group)
            return request
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                try invitees.requireOthers(than: client)
                try await client.catchUp(needed: true)
                let chatID = try await client.activeChat(target.group).chatID
                Console.progress("looking for the peers' key packages…")
                let (_, left) = try await client.inviting(
                    .addGroupMembers(chatID: chatID, peers: invitees.keys, missing: invitees.missing))
                await client.settle()
                var result = ResultJSON.groupWithMembers(try await client.chat(chatID))
                result["left_out"] = ResultJSON.leftOut(left)
                return .object(result)
            }
        }
    }
}

/// The group of a command.
struct GroupOption: ParsableArguments {
    @Option(help: "The group's id, as `pikabot groups` shows it.") var group: String
}

/// The peers of a command, at least one.
struct PeerOptions: ParsableArguments {
    @Option(
        name: .customLong("peer"), parsing: .upToNextOption,
        help: "Public keys, npub1… or 64 hex digits; may be repeated.")
    var peers: [PeerArgument]

    func validate() throws {
        guard !peers.isEmpty else { throw ValidationError("--peer is missing: name at least one public key") }
    }

    /// The keys without duplicates, in order.
    var keys: [PublicKey] {
        var seen: Set<PublicKey> = []
        return peers.map(\.key).filter { seen.insert($0).inserted }
    }

    /// The keys as text, for a request to the daemon.
    var json: JSONValue { .array(keys.map { .string($0.hex) }) }
}

/// The peers to invite, and the treatment of those who cannot be invited.
struct InviteeOptions: ParsableArguments {
    enum OnMissing: String, ExpressibleByArgument, CaseIterable {
        case fail, skip
    }

    @OptionGroup var peers: PeerOptions
    @Option(help: "If a peer has no usable key package: fail, or skip it and say why.") var onMissing = OnMissing.fail

    var keys: [PublicKey] { peers.keys }
    var missing: MissingPeers { onMissing == .skip ? .proceedWithout : .fail }

    func request(_ command: String) -> JSONObject {
        ["cmd": .string(command), "peer_pubkeys": peers.json, "on_missing": .string(onMissing.rawValue)]
    }

    /// Throws if the account itself is among the peers.
    func requireOthers(than client: Client) throws {
        guard !keys.contains(client.key.publicKey) else {
            throw CommandError("--peer names this account itself; `pikabot identity` shows its key")
        }
    }
}

extension Client {
    /// Performs an action that invites others; returns its chat and the peers that were left out.
    fileprivate func inviting(
        _ action: AppAction
    ) async throws -> (chatID: ChatID, left: [PublicKey: InviteFailure]) {
        switch try await account.perform(action) {
        case .done(let chatID?): return (chatID, [:])
        case .partlyDone(let chatID, let left): return (chatID, left)
        default: throw CommandError("the action ended without a group")
        }
    }
}
