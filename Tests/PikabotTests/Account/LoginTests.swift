import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import LiveTesting
import Logging
import Nostr
import PikaCore
import Testing

@testable import Daemon
@testable import pikabot

/// `login`, `logout`, `accounts` and `--account`. No command waits for a relay.
@Suite(.live) struct LoginTests {
    private func run<Command: ClientCommand>(
        _ type: Command.Type, _ directory: String, _ arguments: String...
    ) async throws -> JSONValue {
        let line = arguments + ["--state-dir", directory, "--relay", "ws://127.0.0.1:1"]
        let command = try #require(try Pikabot.parseAsRoot(line) as? Command)
        return try await command.perform()
    }

    private func accounts(_ directory: String) async throws -> [JSONValue] {
        try await run(Pikabot.Accounts.self, directory, "accounts")["accounts"]?.array ?? []
    }

    @Test func loginAddsAccountsAndSelects() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            var generator = SystemRandomNumberGenerator()
            let own = KeyPair.generate(using: &generator)
            try StoredIdentity.save(own, to: directory)
            let file = directory + "/other.key"
            let other = try SecretFile.writeNewKey(to: file)
            let result = try await run(Pikabot.Login.self, directory, "login", "--nsec-file", file)
            #expect(result["npub"]?.string == other.publicKey.npub && result["key"]?.string == "plain")
            #expect(try await accounts(directory).map { $0["current"]?.bool } == [false, true])
            let current = try await run(Pikabot.Identity.self, directory, "identity")
            #expect(current["npub"]?.string == other.publicKey.npub)
            let chosen = try await run(
                Pikabot.Identity.self, directory, "identity", "--account", own.publicKey.npub)
            #expect(chosen["npub"]?.string == own.publicKey.npub)
            _ = try await run(Pikabot.Login.self, directory, "login", "--account", own.publicKey.npub)
            #expect(try await accounts(directory).map { $0["current"]?.bool } == [true, false])
        }
    }

    @Test func loggedOutAccountIsRefused() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let created = try await run(Pikabot.Login.self, directory, "login")
            let npub = try #require(created["npub"]?.string)
            let result = try await run(Pikabot.Logout.self, directory, "logout")
            #expect(result["erased"]?.bool == false && result["current"] == .null)
            #expect(try await accounts(directory).first?["logged_in"]?.bool == false)
            // No new identity is created beside it.
            for arguments in [["identity"], ["identity", "--account", npub]] {
                let line = arguments + ["--state-dir", directory]
                let command = try #require(try Pikabot.parseAsRoot(line) as? Pikabot.Identity)
                let error = #expect(throws: CommandError.self) { try command.perform() }
                #expect(error?.description.contains("pikabot login") == true)
            }
            #expect(!StoredIdentity.exists(in: directory))
            _ = try await run(Pikabot.Login.self, directory, "login", "--account", npub)
            let again = try await run(Pikabot.Identity.self, directory, "identity")
            #expect(again["npub"]?.string == npub)
        }
    }

    @Test func eraseDeletesKeyAndState() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            _ = try await run(Pikabot.Login.self, directory, "login")
            let result = try await run(Pikabot.Logout.self, directory, "logout", "--erase")
            #expect(result["erased"]?.bool == true)
            #expect(try await accounts(directory).isEmpty)
        }
    }

    @Test func encryptedKeyStaysEncrypted() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            let text = try key.encrypted(password: NIP49.Password("pass"), logN: 2, using: &generator)
            try text.write(toFile: directory + "/k", atomically: true, encoding: .utf8)
            try "pass\n".write(toFile: directory + "/p", atomically: true, encoding: .utf8)
            let result = try await run(
                Pikabot.Login.self, directory, "login", "--ncryptsec-file", directory + "/k", "--password-file",
                directory + "/p")
            #expect(result["key"]?.string == "encrypted")
            let entry = try #require(try AccountDirectory(path: directory).current())
            #expect(entry.identity == .encryptedKey(key.publicKey, ncryptsec: text))
        }
    }

    @Test func refusesReadableKeyFile() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let file = directory + "/key"
            try SecretFile.writeNewKey(to: file)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            let error = await #expect(throws: CommandError.self) {
                try await run(Pikabot.Login.self, directory, "login", "--nsec-file", file)
            }
            #expect(error?.description.contains("chmod 600") == true)
            #expect(try await accounts(directory).isEmpty)
        }
    }

    @Test(arguments: [
        ["login", "--nsec-file", "a", "--nostrconnect"], ["login", "--bunker", "a", "--ncryptsec-file", "b"],
        ["login", "--password-file", "a"], ["login", "--account", ClientCommandTests.hex, "--nsec-file", "a"],
        ["init", "--account", ClientCommandTests.hex],
    ])
    func refusesContradictoryOptions(arguments: [String]) {
        let error = #expect(throws: (any Error).self) { try Pikabot.parseAsRoot(arguments) }
        #expect(error.map { Pikabot.exitCode(for: $0) } == .validationFailure)
    }

    @Test func initRefusesKeyOfOtherAccount() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            let file = directory + "/key"
            let key = try SecretFile.writeNewKey(to: file)
            _ = try await run(Pikabot.Login.self, directory, "login", "--nsec-file", file)
            let error = await #expect(throws: CommandError.self) {
                try await run(Pikabot.Init.self, directory, "init", "--nsec", key.nsec)
            }
            #expect(error?.description.contains("pikabot login --account") == true)
        }
    }

    @Test func initNeverRevokesErasure() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            try IdentityFile(path: directory + "/identity.json").write(.wiping(key.publicKey))
            let error = await #expect(throws: CommandError.self) {
                try await run(Pikabot.Init.self, directory, "init", "--nsec", key.nsec)
            }
            #expect(error?.description.contains("--erase") == true)
            #expect(try await accounts(directory).first?["key"]?.string == "erasing")
        }
    }

    /// A client of the daemon names the file: reading a pipe would never end.
    @Test func daemonRefusesPasswordFromPipe() async throws {
        try await withTemporaryDirectory(named: "pikabot-tests") { directory in
            var generator = SystemRandomNumberGenerator()
            let key = KeyPair.generate(using: &generator)
            let text = try key.encrypted(password: NIP49.Password("pass"), logN: 2, using: &generator)
            try text.write(toFile: directory + "/k", atomically: true, encoding: .utf8)
            try "pass\n".write(toFile: directory + "/p", atomically: true, encoding: .utf8)
            #expect(mkfifo(directory + "/pipe", 0o600) == 0)
            let folder = AccountDirectory(path: directory)
            let login = AccountLogin(
                accounts: folder, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let daemon = DirectoryAccounts(folder, login: login, environment: [:])
            let error = await #expect(throws: DaemonFailure.self) {
                _ = try await daemon.logIn(
                    DaemonCommand.Login(ncryptsecFile: directory + "/k", passwordFile: directory + "/pipe"),
                    onApproval: { _ in })
            }
            #expect(error?.message.contains("not a regular file") == true)
            let entry = try await daemon.logIn(
                DaemonCommand.Login(ncryptsecFile: directory + "/k", passwordFile: directory + "/p"),
                onApproval: { _ in })
            #expect(entry["npub"]?.string == key.publicKey.npub)
        }
    }
}
