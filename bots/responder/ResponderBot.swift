public import BotKit

/// Answers by rules in the configuration, described in `docs/responder.md`.
public struct ResponderBot: Bot {
    public static let name = "responder"

    private let settings: ResponderSettings

    /// Throws ``BotSettingsError`` with all problems of the settings.
    public init(settings: BotSettings) throws {
        self.settings = try ResponderSettings(settings)
    }

    public var handlers: [Handler] {
        for index in settings.rules.indices { settings.handler(from: index) }
    }
}
