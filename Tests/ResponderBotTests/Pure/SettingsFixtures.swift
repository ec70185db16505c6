public import BotKit

@testable import ResponderBot

extension BotSettings: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByFloatLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(arrayLiteral elements: BotSettings...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, BotSettings)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}

/// Settings with these rules and allowed hosts.
func settings(_ rules: BotSettings..., allow: BotSettings = ["api.example", "127.0.0.1:8080"]) -> BotSettings {
    ["allow": allow, "rules": .array(rules)]
}

/// The problems of settings, one line each.
func problems(_ settings: BotSettings) -> [String] {
    do {
        _ = try ResponderSettings(settings)
        return []
    } catch { return error.problems.map(\.description) }
}
