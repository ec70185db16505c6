import ArgumentParser
import BotProgram
import Nostr
import PikaCore

/// Destination of a message: a group or a peer.
struct TargetOptions: ParsableArguments {
    @Option(help: "The group's id, as `pikabot groups` shows it.") var group: String?
    @Option(
        help: "A peer's public key (npub1… or hex): sends to the chat with the peer, which is created if necessary.")
    var to: PeerArgument?

    func validate() throws {
        guard group == nil || to == nil else { throw ValidationError("give --group or --to, not both") }
        guard group != nil || to != nil else {
            throw ValidationError("--group <id> or --to <npub> is missing")
        }
    }

    /// Returns the group for a daemon command; the daemon does not support peers.
    func remoteGroup() throws -> JSONValue {
        guard let group else {
            throw CommandError("--to does not work with --remote; use --group with an id of `pikabot --remote groups`")
        }
        return .string(group)
    }
}

extension Client {
    func chat(_ target: TargetOptions) async throws -> (chatID: ChatID, isNew: Bool) {
        if let peer = target.to { return try await directChat(with: peer.key) }
        return (try await activeChat(target.group ?? "").chatID, false)
    }
}
