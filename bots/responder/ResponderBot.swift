public import BotKit

/// Answers by rules that stand in the configuration.
public struct ResponderBot: Bot {
    public static let name = "responder"

    public init(settings: BotSettings) throws {}

    public var handlers: [Handler] { [] }
}
