import BotRuntime
import EchoBot

extension BotRegistry {
    /// The bots that a configuration file of this program may name with `use:`.
    static let included = BotRegistry(EchoBot.self)
}
