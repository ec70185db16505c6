/// Handles chat messages (kind 9) of others.
///
/// ```swift
/// OnMessage(.mention && .fromAdmin) { message, context in
///     context.reply("At your service.")
/// }
/// ```
public struct OnMessage: HandlerDeclaration {
    /// The handler for chat messages.
    public let handler: Handler

    /// Creates a handler for the chat messages that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("message", .kind(.chatMessage) && filter, body)
    }
}

/// Handles others' chat messages that mention the account (``EventFilter/mention``), including replies to its messages.
public struct OnMention: HandlerDeclaration {
    /// The handler for mentions.
    public let handler: Handler

    /// Creates a handler for the mentions that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("mention", .kind(.chatMessage) && .mention && filter, body)
    }
}

/// Handles others' replies to the account's own messages (``EventFilter/reply``). Replies are mentions too: declare
/// it above an ``OnMention``.
public struct OnReply: HandlerDeclaration {
    /// The handler for replies.
    public let handler: Handler

    /// Creates a handler for the replies that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("reply", .kind(.chatMessage) && .reply && filter, body)
    }
}

/// Handles others' messages with files (`MessageEvent.media`, MIP-04); ``BotContext/download(_:)`` returns a file's
/// contents.
public struct OnMedia: HandlerDeclaration {
    /// The handler for messages with files.
    public let handler: Handler

    /// Creates a handler for the messages with files that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("media", .media && filter, body)
    }
}

/// Handles reactions (kind 7) of others. The content is the emoji, `MessageEvent.target` the message reacted to.
public struct OnReaction: HandlerDeclaration {
    /// The handler for reactions.
    public let handler: Handler

    /// Creates a handler for the reactions that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("reaction", .kind(.reaction) && filter, body)
    }
}

/// Handles inner events of others of any kind; narrow it with `.kind(…)`.
public struct OnInnerEvent: HandlerDeclaration {
    /// The handler for inner events.
    public let handler: Handler

    /// Creates a handler for the inner events that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent>,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("inner event", filter, body)
    }
}

/// Handles inner events of others of unknown kinds (``EventFilter/unknownKind``).
public struct OnUnknownKind: HandlerDeclaration {
    /// The handler for inner events of unknown kinds.
    public let handler: Handler

    /// Creates a handler for the inner events of unknown kinds that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .messages("unknown kind", .unknownKind && filter, body)
    }
}

extension Handler {
    fileprivate static func messages(
        _ label: String, _ filter: EventFilter<MessageEvent>,
        _ body: @escaping @Sendable (MessageEvent, BotContext) async throws -> Void
    ) -> Handler {
        Handler(label: label) { event, scope in
            guard case .message(let message) = event.content, filter.matches(message, in: scope) else { return nil }
            return { try await body(message, $0) }
        }
    }
}

extension MessageEvent {
    /// The message that this one replies or reacts to: its last `e` tag (docs/protocol/marmot.md §8.1); nil if there is
    /// none.
    public var target: EventID? {
        tags.all(named: "e").last?.value.flatMap { try? EventID(hex: $0) }
    }
}
