import ArgumentParser
import Daemon
import Nostr

extension Pikabot {
    struct PublishKeyPackage: ClientCommand {
        static let configuration = CommandConfiguration(
            commandName: "publish-kp", abstract: "Publish a key package, so that the account can be invited.")

        @OptionGroup var options: ClientOptions

        func remoteRequest() -> JSONObject {
            ["cmd": "publish_keypackage", "relays": .array(options.relays.map { .string($0.url.string) })]
        }

        func perform() async throws -> JSONValue {
            let announcement = try await withClient(options) { try await $0.publishKeyPackage() }.json
            // The members that pikachat has come first.
            var result = JSONObject()
            result["event_id"] = announcement["event_id"]
            result["kind"] = .integer(Int64(Kind.keyPackage.rawValue))
            for member in announcement.members where member.name != "event_id" { result[member.name] = member.value }
            return .object(result)
        }
    }
}
