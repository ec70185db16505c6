import ArgumentParser
import Nostr

extension Pikabot {
    struct Identity: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the public key of the account; a state directory without one gets a new one.")

        @OptionGroup var options: ClientOptions

        func perform() throws -> JSONValue {
            .object(ResultJSON.identity(try StoredIdentity.loadOrCreate(in: options.stateDirectory).key.publicKey))
        }
    }
}
