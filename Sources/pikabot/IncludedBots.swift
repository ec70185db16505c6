import BotRuntime
import EchoBot
import RelayProbeBot
import ResponderBot

extension BotRegistry {
    /// The bots that a configuration file of this program may name with `use:`.
    static let included = BotRegistry(EchoBot.self, ResponderBot.self, RelayProbeBot.self)
}
