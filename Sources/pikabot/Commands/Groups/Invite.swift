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

        func remoteRequest() -> JSONObject {
            ["cmd": "init_group", "peer_pubkey": .string(peer.text), "group_name": .string(name)]
        }

        func perform() async throws -> JSONValue {
            try await withClient(options) { client in
                guard peer.key != client.key.publicKey else {
                    throw CommandError("--peer is this account itself; `pikabot identity` shows its key")
                }
                try await client.catchUp(needed: true)
                let chatID = try await client.createChat(.createChat(peer: peer.key, name: name))
                await client.settle()
                var result = ResultJSON.groupIDs(try await client.chat(chatID))
                result["peer_pubkey"] = .string(peer.key.hex)
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
