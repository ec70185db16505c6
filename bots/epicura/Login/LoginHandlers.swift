import Appliance
import BotKit

/// Login, and the messages of private chats that are not commands.
enum LoginHandlers {
    @HandlerBuilder
    static func all(_ settings: EpicuraSettings) -> [Handler] {
        OnCommand("login", matching: .group) { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.text(.privateChatOnly, for: context.chatID))
        }
        OnCommand("login") { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await kitchen.beginLogin(in: context.chatID))
        }
        OnCommand("logout", matching: .group) { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(await kitchen.text(.privateChatOnly, for: context.chatID))
        }
        OnCommand("logout") { _, context in
            let kitchen = try await Kitchen.of(context, settings)
            context.reply(try await kitchen.logout(in: context.chatID))
        }
    }

    /// The answers to the questions of `/login` and `/pair`; below all commands.
    static func answers(_ settings: EpicuraSettings) -> Handler {
        OnMessage(!.group && !.anyCommand) { message, context in
            let kitchen = try await Kitchen.of(context, settings)
            if await kitchen.continuePairing(message.content, in: context.chatID) { return }
            guard let answer = try await kitchen.continueLogin(message.content, in: context.chatID) else { return }
            context.reply(answer)
        }
        .handler
    }
}

extension EventFilter<MessageEvent> {
    /// Only messages that begin as commands do.
    static var anyCommand: Self { Self { message, _ in message.content.hasPrefix("/") } }
}
