import BotKit
import Nostr

extension ConfigurationParser {
    /// Parses `{ relay: wss://relay.example/calls, longest: 1h }`.
    func calls(_ value: ConfigurationValue) -> CallConfiguration {
        var calls = CallConfiguration()
        guard let fields = value.fields(ConfigurationSchema.calls) else { return calls }
        calls.relay = fields.optional("relay")?.parsed(
            { text in (try? RelayURL(text)).flatMap { $0.path.hasSuffix("/calls") ? $0 : nil } },
            expected: "the address of a call relay",
            fix: "write a ws:// or wss:// address that ends in /calls, such as wss://relay.example/calls")
        if let longest = fields.optional("longest")?.duration(upTo: .seconds(86_400)) { calls.longest = longest }
        return calls
    }
}

extension CallConfiguration {
    var configurationText: String {
        let relay = relay.map { "relay: \(yamlText($0.string)), " } ?? ""
        return "{ \(relay)longest: \(longest.configurationText) }"
    }
}
