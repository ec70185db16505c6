public import BotKit

/// Answers by rules that stand in the configuration; `docs/responder.md` says which there are.
public struct ResponderBot: Bot {
    public static let name = "responder"

    private let settings: ResponderSettings

    /// Throws ``BotSettingsError`` with everything that is wrong with the settings.
    public init(settings: BotSettings) throws {
        self.settings = try ResponderSettings(settings)
    }

    public var handlers: [Handler] {
        for index in settings.rules.indices { settings.handler(from: index) }
    }
}
