import ArgumentParser
import Nostr

extension Pikabot {
    struct Identity: ClientCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the public key of the account; creates an account if the state directory has none.")

        @OptionGroup var options: ClientOptions

        func perform() throws -> JSONValue {
            .object(ResultJSON.identity(try StoredIdentity.loadOrCreate(in: options.accountFolder()).account))
        }
    }
}
