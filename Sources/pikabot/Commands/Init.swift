import ArgumentParser
import Nostr

extension Pikabot {
    struct Init: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make an account, or take one over, and publish its first key package.")

        @OptionGroup var options: ClientOptions

        @Option(help: "Take this secret key (nsec1… or 64 hex digits) instead of a new one; - reads it from the input.")
        var nsec: String?

        func perform() async throws -> JSONValue {
            let key = try chooseKey()
            if StoredIdentity.exists(in: options.stateDirectory), !isPresent(key) { try replace() }
            try StoredIdentity(key: key).save(to: options.stateDirectory)
            let event = try await withClient(options) { try await $0.publishKeyPackage(options) }
            var result = ResultJSON.identity(key.publicKey)
            result["key_package_event_id"] = .string(event.id.hex)
            return .object(result)
        }

        /// Whether the directory has this very identity already: then its state stays.
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
            guard let text = nsec == "-" ? readLine() : nsec, let key = try? KeyPair(parsing: text) else {
                throw ValidationError("--nsec is neither nsec1… nor 64 hex digits")
            }
            return key
        }
    }
}
