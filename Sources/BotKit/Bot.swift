/// Something that answers in encrypted chats: a name and a list of handlers.
///
/// A bot never sees a socket or a key. The runtime makes one value of it for each place where a configuration says
/// `use: <name>`, asks for ``handlers`` once, and calls them for every event until the event is done with, also across
/// restarts. State that must survive belongs into ``BotContext/setValue(_:forKey:)``.
public protocol Bot: Sendable {
    /// What stands after `use:` in a configuration: 1 to 32 of a-z, 0-9 and "-".
    static var name: String { get }

    /// Makes a bot from what stands under `with:`; an object without members when nothing does.
    /// ``SettingsReader`` reads it and says all that is wrong; ``BotError/Code/invalidSettings`` is for the rest.
    init(settings: BotSettings) throws

    /// In the order in which they are asked: the first one that accepts an event handles it, alone.
    @HandlerBuilder var handlers: [Handler] { get }

    /// What stands around every handler, the first one outermost; nothing unless given.
    var middleware: [BotMiddleware] { get }

    /// Who is asked, in order, when a handler has failed; nobody unless given.
    var errorHandlers: [BotErrorHandler] { get }

    /// The command that lists the bot's commands: `/help` unless given.
    var help: BotHelp { get }
}

extension Bot {
    public var middleware: [BotMiddleware] { [] }
    public var errorHandlers: [BotErrorHandler] { [] }
    public var help: BotHelp { .command("help") }
}
