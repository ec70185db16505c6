import ArgumentParser
import Nostr

extension Pikabot {
    struct Identity: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show the public key of the account.")

        @OptionGroup var options: ClientOptions

        func run() throws {
            let key = try StoredIdentity.load(from: options.stateDirectory).key.publicKey
            let output: JSONValue = ["pubkey": .string(key.hex), "npub": .string(key.npub)]
            Console.print(output.prettyText)
        }
    }
}
