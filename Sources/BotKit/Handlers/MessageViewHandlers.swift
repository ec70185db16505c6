/// Handles others' edits of their messages (kind 1009).
///
/// ```swift
/// OnEdit { edit, message, context in
///     let key = "order/\(edit.target.hex)"
///     guard try await context.text(key) == message.sender.hex else { return }  // not its author
///     context.reply("changed to: \(edit.text)")
/// }
/// ```
///
/// Malformed edits are passed to the handlers below; the same holds for deletions, polls, votes and reports.
public struct OnEdit: HandlerDeclaration {
    /// The handler for edits.
    public let handler: Handler

    /// Creates a handler for the edits that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageEdit, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("edit", { MessageEdit($0) }, filter, body)
    }
}

/// Handles deletions of messages and reactions: others' deletions of their own (kind 5), and those of admins (kind 4891).
public struct OnDeletion: HandlerDeclaration {
    /// The handler for deletions.
    public let handler: Handler

    /// Creates a handler for the deletions that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (MessageDeletion, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("deletion", { MessageDeletion($0) }, filter, body)
    }
}

/// Handles others' polls (NIP-88, kind 1068).
public struct OnPoll: HandlerDeclaration {
    /// The handler for polls.
    public let handler: Handler

    /// Creates a handler for the polls that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (Poll, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("poll", { Poll($0) }, filter, body)
    }
}

/// Handles others' votes in polls (NIP-88, kind 1018).
public struct OnVote: HandlerDeclaration {
    /// The handler for votes.
    public let handler: Handler

    /// Creates a handler for the votes that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (PollVote, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("vote", { PollVote($0) }, filter, body)
    }
}

/// Handles others' reports of messages to the admins (kind 1984).
public struct OnReport: HandlerDeclaration {
    /// The handler for reports.
    public let handler: Handler

    /// Creates a handler for the reports that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (ReportedMessage, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("report", { ReportedMessage($0) }, filter, body)
    }
}

/// Handles the beginnings (kind 1200) and ends (kind 9) of others' text streams.
///
/// ```swift
/// OnAgentStream { stream, message, context in
///     guard stream.isComplete else { return }  // the text follows with the end
///     context.reply("\(message.content.count) characters")
/// }
/// ```
///
/// An end is also a chat message: put this handler above ``OnMessage``, or that one handles it.
public struct OnAgentStream: HandlerDeclaration {
    /// The handler for streams.
    public let handler: Handler

    /// Creates a handler for the beginnings and ends of streams that the filter selects.
    public init(
        _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (AgentStream, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = .views("agent stream", { AgentStream($0) }, filter, body)
    }
}

extension Handler {
    fileprivate static func views<View: Sendable>(
        _ label: String, _ read: @escaping @Sendable (MessageEvent) -> View?, _ filter: EventFilter<MessageEvent>,
        _ body: @escaping @Sendable (View, MessageEvent, BotContext) async throws -> Void
    ) -> Handler {
        Handler(label: label) { event, scope in
            guard case .message(let message) = event.content, let view = read(message),
                filter.matches(message, in: scope)
            else { return nil }
            return { try await body(view, message, $0) }
        }
    }
}
