import BotConfiguration
import BotProgram
import Foundation
import Nostr

/// The demo's configuration and the folder in which it is installed.
struct DemoConfiguration: Sendable {
    static let path = "config/demo.yaml"

    let file: String
    let loaded: ConfigurationFile
    /// The account that the guests talk to: the first one in the file.
    let bot: PublicKey

    /// Returns the checkout's file if the demo was started there, else the embedded copy below.
    static func text() -> String {
        FileManager.default.contents(atPath: path).flatMap { String(validating: $0, as: UTF8.self) } ?? embedded
    }

    /// Writes the configuration to a folder, with its relays replaced by `relay`, and creates its keys there.
    static func install(in folder: String, relay: String) throws -> DemoConfiguration {
        let file = folder + "/demo.yaml"
        try Self.text().write(toFile: file, atomically: true, encoding: .utf8)
        var text = Self.text()
        for named in try Configuration.loadOrExit(file).relays {
            text = text.replacingOccurrences(of: named.string, with: relay)
        }
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let loaded = try ConfigurationFile.loadOrExit(file)
        let configuration = loaded.configuration
        for account in configuration.accounts {
            if case .file(let path) = account.key, path.hasPrefix(folder) { try SecretFile.writeNewKey(to: path) }
        }
        guard let first = configuration.accounts.first else { throw CommandError("\(path): has no account") }
        let bot = try first.key.loadKeyPair(environment: ProcessInfo.processInfo.environment).publicKey
        return DemoConfiguration(file: file, loaded: loaded, bot: bot)
    }
}

extension DemoConfiguration {
    /// Copy of config/demo.yaml, for a program that was moved out of its checkout; `.ci/run` compares the two.
    static let embedded = """
        # The bot of `pikabot demo`. The demo replaces the relay named here with its own, keeps the state in a temporary
        # directory, and creates the key.
        version: 1
        relays: [ws://127.0.0.1:3334]
        state: { directory: ./state }
        accounts:
          - name: echo
            key: { file: secrets/echo.key }
            invites: { accept: anyone }
            bots:
              - use: echo
        supervisor: { restart: { strategy: one_for_one, intensity: 5, period: 60s, backoff: 1s..30s }, drain: 5s }
        observe: { logs: text, level: notice }

        """
}
