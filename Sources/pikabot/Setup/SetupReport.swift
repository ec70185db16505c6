import BotConfiguration
import BotProgram
import Nostr

/// The result of `pikabot setup`.
struct SetupReport: Sendable {
    let files: SetupFiles
    let publication: SetupPublication

    private var account: PublicKey { files.key.publicKey }
    private var name: String { files.account.name }

    /// The command that starts the bot.
    var next: String {
        files.place.isService
            ? "systemctl enable --now pikabot@\(name)"
            : "\(Executable.name) run \(files.place.configuration.shellWord)"
    }

    /// The link of NIP-21 that opens the account in a Nostr client.
    var link: String { "nostr:\(account.npub)" }

    var json: JSONValue {
        var json = ResultJSON.identity(account)
        json["name"] = .string(name)
        json["configuration"] = .string(files.place.configuration)
        json["created"] = .array(files.created.map { .string($0) })
        json["kept"] = .array(files.kept.map { .string($0) })
        switch publication {
        case .published: json["publication"] = "published"
        case .left(let reason):
            json["publication"] = "left"
            json["reason"] = .string(reason)
        case .failed(let reason):
            json["publication"] = "failed"
            json["reason"] = .string(reason)
        }
        json["link"] = .string(link)
        json["next"] = .string(next)
        return .object(json)
    }

    /// The report for people, without the QR code.
    var text: String {
        var lines = files.created.map { "created    \($0)" } + files.kept.map { "kept       \($0)" }
        switch publication {
        case .published: lines.append("published  profile, relay lists and key packages")
        case .left(let reason): lines.append("published  nothing: \(reason)")
        case .failed(let reason): lines.append("published  nothing: \(reason)")
        }
        lines += ["", "npub: \(account.npub)", "link: \(link)", ""]
        if files.created.contains(files.place.key) {
            lines.append("Keep a copy of \(files.place.key) in another place: it cannot be created again.")
        }
        if case .failed = publication { lines.append("The bot publishes when it reaches a relay.") }
        let relay = files.configuration.relays.first.map { " --relay \($0.string)" } ?? ""
        lines += [
            "Next, start the bot:", "    \(next)", "and write to it, from a Nostr client or with:",
            "    \(Executable.name) send\(relay) --to \(account.npub) --content hello",
        ]
        return lines.joined(separator: "\n")
    }
}

extension String {
    /// The text as one word of a shell command.
    fileprivate var shellWord: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                (0x61...0x7a).contains(byte) || (0x41...0x5a).contains(byte) || (0x2d...0x39).contains(byte)
                    || byte == 0x5f
            }
        return isPlain
            ? self : "'" + split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
    }
}
