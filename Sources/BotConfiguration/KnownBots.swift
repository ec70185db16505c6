import BotKit

/// The bots that a file may name with `use:`, and the validation of their settings.
struct KnownBots {
    let names: [String]
    let validate: (String, BotSettings) -> [BotSettingsError.Problem]

    /// Creates bots whose settings are not validated.
    init(names: some Collection<String>) {
        self.names = names.sorted()
        validate = { _, _ in [] }
    }

    /// Creates bots that validate their settings: each is created once and discarded.
    init(_ registry: BotRegistry) {
        names = registry.names
        validate = { name, settings in
            guard let type = registry[name] else { return [] }
            do {
                _ = try type.init(settings: settings)
                return []
            } catch {
                if let refusal = error as? BotSettingsError { return refusal.problems }
                let reason = (error as? BotError)?.message ?? "\(error)"
                return [
                    BotSettingsError.Problem(
                        path: "", expected: "valid settings of the bot", found: "an error: \(reason)",
                        fix: "see the documentation of the bot")
                ]
            }
        }
    }
}
