/// A bot in encrypted chats: a name and a list of handlers.
///
/// ```swift
/// struct GreeterBot: Bot {
///     static let name = "greeter"
///     init(settings: BotSettings) {}
///
///     var handlers: [Handler] {
///         OnCommand("ping") { _, context in
///             context.reply("pong")
///         }
///         OnMessage(.mention && .group) { message, context in
///             context.reply("hello, \(message.sender.npub)")
///         }
///     }
/// }
/// ```
///
/// A bot never sees a socket or a key. The runtime creates one instance for each `use: <name>` in the configuration,
/// reads ``handlers`` once, and calls them for every event until the event has been handled, even after a
/// restart. State that must survive a restart belongs in ``BotContext/setValue(_:forKey:)``.
public protocol Bot: Sendable {
    /// The bot's name after `use:` in a configuration: 1 to 32 of a-z, 0-9 and "-".
    static var name: String { get }

    /// Creates a bot from its settings under `with:`; an empty object if `with:` is absent.
    ///
    /// ``SettingsReader`` reads them and reports every problem at once; throw `BotError.Code.invalidSettings` for
    /// other failures.
    init(settings: BotSettings) throws

    /// The bot's handlers, in order: only the first that accepts an event handles it.
    @HandlerBuilder var handlers: [Handler] { get }

    /// Middleware around every handler, outermost first. None by default.
    var middleware: [BotMiddleware] { get }

    /// The error handlers, called in order after a handler has failed. None by default.
    var errorHandlers: [BotErrorHandler] { get }

    /// The command that lists the bot's commands. `/help` by default.
    var help: BotHelp { get }
}

extension Bot {
    /// No middleware.
    public var middleware: [BotMiddleware] { [] }
    /// No error handlers: failures are only logged and counted.
    public var errorHandlers: [BotErrorHandler] { [] }
    /// `/help`, if any command has a help text.
    public var help: BotHelp { .command("help") }
}
