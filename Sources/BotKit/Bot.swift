/// A bot in encrypted chats: a name and a list of handlers.
///
/// A bot never sees a socket or a key. The runtime creates one instance for each `use: <name>` in the configuration,
/// reads ``handlers`` once, and calls them for every event until the event has been handled, also across restarts.
/// State that must survive a restart belongs in ``BotContext/setValue(_:forKey:)``.
public protocol Bot: Sendable {
    /// The bot's name after `use:` in a configuration: 1 to 32 of a-z, 0-9 and "-".
    static var name: String { get }

    /// Creates a bot from its settings under `with:`; an empty object if there are none. ``SettingsReader`` reads them
    /// and reports every problem at once; use ``BotError/Code/invalidSettings`` for other failures.
    init(settings: BotSettings) throws

    /// The handlers in the order in which they are tried: only the first one that accepts an event handles it.
    @HandlerBuilder var handlers: [Handler] { get }

    /// Middleware around every handler, outermost first. None by default.
    var middleware: [BotMiddleware] { get }

    /// The error handlers that are called, in order, when a handler has failed. None by default.
    var errorHandlers: [BotErrorHandler] { get }

    /// The command that lists the bot's commands. `/help` by default.
    var help: BotHelp { get }
}

extension Bot {
    public var middleware: [BotMiddleware] { [] }
    public var errorHandlers: [BotErrorHandler] { [] }
    public var help: BotHelp { .command("help") }
}
