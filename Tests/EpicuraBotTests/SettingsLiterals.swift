public import BotKit

extension BotSettings: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int) { self = .int(value) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(arrayLiteral elements: BotSettings...) { self = .array(elements) }
    public init(dictionaryLiteral elements: (String, BotSettings)...) {
        self = .object(Dictionary(elements) { $1 })
    }
}
