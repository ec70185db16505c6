import BotProgram
import Daemon
import Foundation
import Nostr
import PikaCore

/// Hashed access tokens of a daemon's clients, in its state directory.
struct TokenFile: Sendable {
    let path: String

    init(stateDirectory: String) {
        path = stateDirectory + "/daemon-tokens.json"
    }

    /// Returns the tokens; empty without a file.
    func tokens() throws -> [DaemonToken] {
        guard let data = FileManager.default.contents(atPath: path) else { return [] }
        return try DaemonToken.read(String(decoding: data, as: UTF8.self))
    }

    /// Creates a token and returns its text, which is not stored.
    func add(name: String, scope: DaemonToken.Scope) throws -> String {
        var generator = SystemRandomNumberGenerator()
        let made = DaemonToken.make(name: name, scope: scope, now: SystemClock().now, using: &generator)
        let all = try tokens().filter { $0.name != name } + [made.token]
        try SecretFile.write(DaemonToken.text(of: all).prettyText + "\n", to: path)
        return made.text
    }
}
