import BotConfiguration
import EchoBot
import EpicuraBot
import GroupCanaryBot
import KeyPackageProbeBot
import NotesBot
import RelayProbeBot
import ResponderBot
import VoicemailBot

extension BotRegistry {
    /// The bots that a configuration file of this program may name with `use:`.
    static let included = BotRegistry(
        EchoBot.self, EpicuraBot.self, GroupCanaryBot.self, KeyPackageProbeBot.self, NotesBot.self, RelayProbeBot.self,
        ResponderBot.self, VoicemailBot.self)
}
