import BotKit

/// The bots that a file may name with `use:`, and what each says of its settings.
struct KnownBots {
    let names: [String]
    let judge: (String, BotSettings) -> [BotSettingsError.Problem]

    /// Bots that are not asked about their settings.
    init(names: some Collection<String>) {
        self.names = names.sorted()
        judge = { _, _ in [] }
    }

    /// Each bot is made once with its settings, and thrown away.
    init(_ registry: BotRegistry) {
        names = registry.names
        judge = { name, settings in
            do throws(WorkerError) {
                _ = try registry.makeBot(name, settings: settings)
                return []
            } catch {
                if let refusal = error.cause as? BotSettingsError { return refusal.problems }
                let reason = error.cause.map { ($0 as? BotError)?.message ?? "\($0)" } ?? error.message
                return [
                    BotSettingsError.Problem(
                        path: "", expected: "settings that the bot takes", found: "others: \(reason)",
                        fix: "read the page of the bot")
                ]
            }
        }
    }
}
