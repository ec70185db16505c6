import Appliance
package import BotKit

/// Connects the chats of a household to cooking appliances, docs/epicura/bot.md.
package struct EpicuraBot: Bot {
    /// The bot's name in configurations.
    package static let name = "epicura"

    private let settings: EpicuraSettings

    /// Throws ``BotSettingsError`` with all problems of the settings.
    package init(settings: BotSettings) throws {
        self.settings = try EpicuraSettings(settings)
    }

    /// The commands, and the results of background work.
    package var handlers: [Handler] {
        OnStart { context in
            // Opens the connection, and goes on with sessions and stops of the last run.
            _ = try await Kitchen.of(context, settings)
        }
        CookingHandlers.all(settings)
        CameraHandlers.all(settings)
        RecipeHandlers.all(settings)
        HouseholdHandlers.all(settings)
        ListHandlers.all(settings)
        PairingHandlers.all(settings)
        LoginHandlers.all(settings)
        NoticeHandlers.all(settings)
        LoginHandlers.answers(settings)
    }

    /// Tells a person that a command failed, with the code of the error.
    package var errorHandlers: [BotErrorHandler] {
        [
            BotErrorHandler { error, context in
                guard context.message != nil else { return .passOn }
                let code = (error as? ApplianceError).map { "\($0.code)" } ?? (error as? BotError).map { "\($0.code)" }
                let reason = ["reason": code ?? "internal"]
                context.reply(Texts.text(.commandFailed, reason, in: settings.language))
                // What a person wrote is no fault of the bot.
                return error is ApplianceError ? .handled : .passOn
            }
        ]
    }

    /// The bot has its own, in the chat's language.
    package var help: BotHelp { .off }
}
