import ArgumentParser
import Nostr

extension Pikabot {
    struct PublishKeyPackage: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "publish-kp", abstract: "Publish a key package, so that others can invite the account.")

        @OptionGroup var options: ClientOptions

        func remoteRequest() -> JSONObject {
            ["cmd": "publish_keypackage", "relays": .array(options.relays.map { .string($0.url.string) })]
        }

        func perform() async throws -> JSONValue {
            let event = try await withClient(options) { try await $0.publishKeyPackage(options) }
            return ["event_id": .string(event.id.hex), "kind": .integer(Int64(event.kind.rawValue))]
        }
    }
}
