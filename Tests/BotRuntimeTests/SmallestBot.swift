import BotKit

struct GreeterBot: Bot {
    static let name = "greeter"
    init(settings: BotSettings) {}

    var handlers: [Handler] {
        OnCommand("ping") { _, context in
            context.reply("pong")
        }
        OnMessage(.mention && .group) { message, context in
            context.reply("hello, \(message.sender.npub)")
        }
    }
}
