import BotConfiguration
import BotProgram
import Foundation
import Nostr

/// The choices from which `pikabot setup` writes a configuration.
struct SetupAnswers: Hashable, Sendable {
    let name: SetupName
    /// Not empty, without repetitions.
    let relays: [RelayURL]
    let invites: InvitePolicy
    let bot: SetupBot
}

/// The name of an account, and of its files.
struct SetupName: Hashable, Sendable {
    /// 1 to 32 characters a-z, 0-9 and "-", not beginning with "-".
    let text: String

    init(_ text: String) throws(CommandError) {
        let isName =
            (1...32).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2d }
        guard isName else {
            throw CommandError(
                "name: expected 1 to 32 characters from a-z, 0-9 and \"-\", not beginning with \"-\", found \"\(text)\""
            )
        }
        self.text = text
    }
}

/// The bot of a new account.
enum SetupBot: Hashable, Sendable {
    case echo
    case notes
    /// Answers `/ping`, by a rule to extend.
    case responder
    /// An external program, by its absolute path.
    case program(String)

    static let choices = "echo, notes, responder, or the path of a program such as ./bot.py"

    /// - Parameter directory: the base of relative paths.
    init(_ text: String, directory: String = FileManager.default.currentDirectoryPath) throws(CommandError) {
        switch text {
        case "echo": self = .echo
        case "notes": self = .notes
        case "responder": self = .responder
        case _ where text.contains("/") || text.hasSuffix(".py"):
            let path = URL(fileURLWithPath: text, relativeTo: URL(fileURLWithPath: directory)).standardizedFileURL.path
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw CommandError("bot: expected a readable program, found \(path)")
            }
            self = .program(path)
        default: throw CommandError("bot: expected \(Self.choices), found \"\(text)\"")
        }
    }
}

extension InvitePolicy {
    static let choices = "anyone, nobody, or the npubs of the people who may"

    /// Parses words: `anyone`, `nobody`, or public keys.
    init(setup words: [String]) throws(CommandError) {
        let words = words.flatMap { $0.split { $0 == " " || $0 == "," }.map(String.init) }
        switch words {
        case ["anyone"]: self = .anyone
        case ["nobody"]: self = .nobody
        case []: throw CommandError("invites: expected \(Self.choices), found nothing")
        default:
            var keys: Set<PublicKey> = []
            for word in words {
                guard let key = try? PublicKey(parsing: word) else {
                    throw CommandError("invites: expected \(Self.choices), found \"\(word)\"")
                }
                keys.insert(key)
            }
            self = .allowlist(keys)
        }
    }
}

extension [RelayURL] {
    /// Parses addresses separated by spaces or commas; drops repeated ones.
    init(setup words: [String]) throws(CommandError) {
        var relays: [RelayURL] = []
        for word in words.flatMap({ $0.split { $0 == " " || $0 == "," } }) {
            guard let relay = try? RelayURL(String(word)) else {
                throw CommandError("relay: expected a ws:// or wss:// URL, found \"\(word)\"")
            }
            if !relays.contains(relay) { relays.append(relay) }
        }
        guard !relays.isEmpty else { throw CommandError("relay: expected at least one ws:// or wss:// URL") }
        self = relays
    }
}
