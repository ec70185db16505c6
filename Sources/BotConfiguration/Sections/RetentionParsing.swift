import BotKit
import PikaCore

extension ConfigurationParser {
    func retention(_ value: ConfigurationValue) -> RetentionPolicy? {
        guard let fields = value.fields(ConfigurationSchema.retention) else { return nil }
        var policy = RetentionPolicy.standard
        if let messages = fields.optional("messages").flatMap(age) { policy.messages = messages.value }
        let newest = fields.optional("newest")?.parsed(
            { text -> Setting<Int>? in
                if text == "all" { return .never }
                return Int(text).flatMap { (1...1_000_000_000).contains($0) ? .value($0) : nil }
            }, expected: "a number of at least 1, or all", fix: "write for example 10000")
        if let newest { policy.newestMessages = newest.value }
        if let unhandled = fields.optional("unhandled").flatMap(age) { policy.unhandled = unhandled.value }
        let maximum = fields.optional("maximumUnhandled")?.integer(in: 1...1_000_000)
        policy.maximumUnhandled = maximum ?? policy.maximumUnhandled
        return policy
    }

    private func age(_ value: ConfigurationValue) -> Setting<Duration>? {
        value.longDuration(or: "forever", example: "90d")
    }
}

extension RetentionPolicy {
    var configurationText: String {
        let messages = messages?.configurationText ?? "forever"
        let newest = newestMessages.map(String.init) ?? "all"
        let unhandled = unhandled?.configurationText ?? "forever"
        return "{ messages: \(messages), newest: \(newest), unhandled: \(unhandled), "
            + "maximumUnhandled: \(maximumUnhandled) }"
    }
}
