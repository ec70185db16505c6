import ArgumentParser
import Logging
import Nostr

extension Pikabot {
    struct PublishKeyPackage: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "publish-kp", abstract: "Publish a key package, so that others can invite the account.")

        @OptionGroup var options: ClientOptions

        func run() async throws {
            StandardErrorLog.bootstrap(level: .warning)
            let key = try StoredIdentity.load(from: options.stateDirectory).key
            let event = try await pikabot.publishKeyPackage(key, options: options)
            let output: JSONValue = [
                "event_id": .string(event.id.hex), "kind": .integer(Int64(event.kind.rawValue)),
            ]
            Console.print(output.prettyText)
        }
    }
}
