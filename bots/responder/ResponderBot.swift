package import BotKit

/// Responds to events by rules in the configuration; `docs/responder.md` describes them.
package struct ResponderBot: Bot {
    /// The bot's name in configurations.
    package static let name = "responder"

    private let settings: ResponderSettings

    /// Throws ``BotSettingsError`` with all problems of the settings.
    package init(settings: BotSettings) throws {
        self.settings = try ResponderSettings(settings)
    }

    /// One handler for each rule.
    package var handlers: [Handler] {
        for index in settings.rules.indices { settings.handler(from: index) }
    }
}
