import Appliance
import BotKit

/// `/pair`; the answers are read by ``LoginHandlers/answers(_:)``.
enum PairingHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("pair", matching: .group) { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.text(.privateChatOnly, for: context.chatID))
        }
        OnCommand("pair") { command, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.pair(in: context.chatID, id: "pair-\(command.message.id.hex)"))
        }
    }
}
