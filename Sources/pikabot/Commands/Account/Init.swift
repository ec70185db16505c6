import ArgumentParser
import BotProgram
import BotRuntime
import Foundation
import Nostr
import PikaCore

extension Pikabot {
    struct Init: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Create an account, or import an existing key, and publish its first key package.")

        @OptionGroup var options: ClientOptions

        @Option(
            help:
                "Import this key: nsec1…, 64 hex digits or, with its password, ncryptsec1…; - reads it from standard input."
        )
        var nsec: String?

        @Option(
            help: ArgumentHelp(
                "A file with the password of an ncryptsec1… (default: PIKABOT_PASSWORD, or a prompt)"))
        var passwordFile: String?

        func validate() throws {
            guard options.account == nil else {
                throw ValidationError("--account: `init` chooses the account by its key; omit --account")
            }
        }

        func perform() async throws -> JSONValue {
            let accounts = AccountDirectory(path: options.stateDirectory)
            let key = try chooseKey()
            // A malformed identity is replaced like any other.
            let known = try? accounts.entry(of: key.publicKey)
            try known?.requireIntact()
            if let known, known.folder != options.stateDirectory {
                throw CommandError(
                    "\(options.stateDirectory) has this account already; run: pikabot login --account "
                        + key.publicKey.npub)
            }
            if StoredIdentity.exists(in: options.stateDirectory), known == nil { try replace() }
            try StoredIdentity.save(key, to: options.stateDirectory)
            if !accounts.hasOnlyOwnAccount { try accounts.finishLogin(key.publicKey) }
            var result = ResultJSON.identity(key.publicKey)
            result["key_package_event_id"] = try await publish(key.publicKey)
            return .object(result)
        }

        /// Publishes the key package. Its errors state that the identity exists, so that no second one is created.
        private func publish(_ account: PublicKey) async throws -> JSONValue {
            do {
                let announcement = try await withClient(options) { try await $0.publishKeyPackage() }
                return announcement.event.map { .string($0.hex) } ?? .null
            } catch {
                Console.printError(
                    "The identity \(account.npub) exists in \(options.stateDirectory), but its key package is not "
                        + "published. Next, run: pikabot publish-kp")
                throw error
            }
        }

        private func replace() throws {
            Console.printError("\(options.stateDirectory) already has an identity. Type yes to replace it.")
            guard readLine() == "yes" else { throw CommandError("the identity was not changed") }
            let folder = try StoredIdentity.archive(in: options.stateDirectory)
            Console.printError("The previous identity and its state were moved to \(folder).")
        }

        private func chooseKey() throws -> KeyPair {
            var generator = SystemRandomNumberGenerator()
            guard let nsec else { return KeyPair.generate(using: &generator) }
            guard let text = (nsec == "-" ? readLine() : nsec)?.trimmed else {
                throw ValidationError("--nsec -: expected a key on standard input, found none")
            }
            if text.lowercased().hasPrefix("ncryptsec1") {
                return try Password.decrypt(text, passwordFile: passwordFile)
            }
            guard let key = try? KeyPair(parsing: text) else {
                throw ValidationError("--nsec: expected nsec1…, 64 hex digits or ncryptsec1…")
            }
            return key
        }
    }
}
