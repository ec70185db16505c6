import ArgumentParser
import BotProgram
import Foundation
import Nostr
import PikaCore

extension Pikabot {
    struct Init: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account, or take one over, and publish its first key package.")

        @OptionGroup var options: ClientOptions

        @Option(
            help: "Take this key: nsec1…, 64 hex digits or, with its password, ncryptsec1…; - reads it from the input.")
        var nsec: String?

        @Option(
            help: ArgumentHelp(
                "A file with the password of an ncryptsec1… (default: PIKABOT_PASSWORD, or it is asked for)"))
        var passwordFile: String?

        func perform() async throws -> JSONValue {
            let key = try chooseKey()
            if StoredIdentity.exists(in: options.stateDirectory), !isPresent(key) { try replace() }
            try StoredIdentity(key: key).save(to: options.stateDirectory)
            var result = ResultJSON.identity(key.publicKey)
            result["key_package_event_id"] = try await publish(key.publicKey)
            return .object(result)
        }

        /// Publishes the key package. An error states that the identity exists, so that nobody creates another one.
        private func publish(_ account: PublicKey) async throws -> JSONValue {
            do {
                let announcement = try await withClient(options) { try await $0.publishKeyPackage() }
                return announcement.event.map { .string($0.hex) } ?? .null
            } catch {
                Console.printError(
                    "The identity \(account.npub) exists in \(options.stateDirectory); only its key package is not "
                        + "published. Next, run: pikabot publish-kp")
                throw error
            }
        }

        /// Whether the directory already has this identity: then its state is kept.
        private func isPresent(_ key: KeyPair) -> Bool {
            (try? StoredIdentity.load(from: options.stateDirectory))?.key.publicKey == key.publicKey
        }

        private func replace() throws {
            Console.printError("\(options.stateDirectory) has an identity already. Type yes to replace it.")
            guard readLine() == "yes" else { throw CommandError("the identity was left as it is") }
            let folder = try StoredIdentity.setAside(in: options.stateDirectory)
            Console.printError("The former identity and its state are now in \(folder).")
        }

        private func chooseKey() throws -> KeyPair {
            var generator = SystemRandomNumberGenerator()
            guard let nsec else { return KeyPair.generate(using: &generator) }
            guard let text = (nsec == "-" ? readLine() : nsec)?.trimmed else {
                throw ValidationError("--nsec - found no key on the input")
            }
            if text.lowercased().hasPrefix("ncryptsec1") { return try openKey(text) }
            guard let key = try? KeyPair(parsing: text) else {
                throw ValidationError("--nsec is neither nsec1…, 64 hex digits nor ncryptsec1…")
            }
            return key
        }

        /// Decrypts a password-protected key (NIP-49).
        private func openKey(_ text: String) throws -> KeyPair {
            do {
                let encrypted = try NIP49.EncryptedKey(parsing: text)
                let password = try Password.read(
                    file: passwordFile, environment: ProcessInfo.processInfo.environment)
                Console.progress("opening the key…")
                let normalized = Array(password.precomposedStringWithCompatibilityMapping.utf8)
                return try encrypted.decrypt(password: NIP49.Password(normalizedUTF8: normalized))
            } catch let error as NostrError { throw CommandError("the key cannot be opened: \(error.message)") }
        }
    }
}
