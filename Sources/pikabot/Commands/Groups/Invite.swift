import ArgumentParser
import BotProgram
import Nostr
import PikaCore

extension Pikabot {
    struct Invite: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create a group and invite a peer.",
            discussion: "`pikabot send --to` does this automatically if there is no chat with the peer yet.")

        @OptionGroup var options: ClientOptions

        @Option(help: "The peer's public key: npub1… or 64 hex digits.") var peer: PeerArgument
        @Option(help: "Name of the group.") var name = "DM"
        @Option(
            name: .customLong("protocol"),
            help: "Generation of Marmot: v1, v2, or auto, which is v2 if the peer supports it (default: auto).")
        var groupProtocol: ProtocolArgument?

        func remoteRequest() -> JSONObject {
            var request: JSONObject = [
                "cmd": "init_group", "peer_pubkey": .string(peer.text), "group_name": .string(name),
            ]
            request["protocol"] = groupProtocol.map { .string($0.groupProtocol.rawValue) }
            return request
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                guard peer.key != client.key.publicKey else {
                    throw CommandError("--peer is this account itself; `pikabot identity` shows its key")
                }
                try await client.catchUp(needed: true)
                let chatID = try await client.createChat(
                    .createChat(peer: peer.key, name: name, groupProtocol: groupProtocol?.groupProtocol))
                await client.settle()
                let chat = try await client.chat(chatID)
                var result = ResultJSON.groupIDs(chat)
                result["peer_pubkey"] = .string(peer.key.hex)
                result["protocol"] = .string(chat.generation.rawValue)
                return .object(result)
            }
        }
    }
}

/// A public key on the command line: npub or hex.
struct PeerArgument: ExpressibleByArgument {
    let text: String
    let key: PublicKey

    init?(argument: String) {
        let text = argument.trimmed
        guard let key = try? PublicKey(parsing: text) else { return nil }
        self.text = text
        self.key = key
    }
}
