/// Handles messages that have left a group's history.
///
/// ```swift
/// OnWithdrawn(.kind(.chatMessage)) { withdrawn, context in
///     context.setValue(nil, forKey: "order/\(withdrawn.id.hex)")
/// }
/// ```
///
/// In groups of the second generation members may commit at the same time, and all of them then settle on one of the
/// branches. A message on another branch is withdrawn, possibly after its handlers have run: members on the chosen
/// branch never see it. The event has the message's id, author and kind, not its text. If its author's client sends it
/// again, or its branch is chosen after all, the message is restored (``OnRestored``), and its own handlers do not run
/// again.
///
/// The account's own messages, such as an answer to a withdrawn one, are sent again automatically, without an event. A
/// withdrawal has no author, so of a bot's policy only `groups: none`, `triggers: nobody` and pauses apply to it.
public struct OnWithdrawn: HandlerDeclaration {
    /// The handler for withdrawn messages.
    public let handler: Handler

    /// Creates a handler for the withdrawn messages that the filter selects.
    public init(
        _ filter: EventFilter<WithdrawnEvent> = .any,
        perform body: @escaping @Sendable (WithdrawnEvent, BotContext) async throws -> Void
    ) {
        handler = .withdrawals("withdrawn", isRestored: false, filter, body)
    }
}

/// Handles withdrawn messages (``OnWithdrawn``) that are part of the group's history again.
public struct OnRestored: HandlerDeclaration {
    /// The handler for restored messages.
    public let handler: Handler

    /// Creates a handler for the restored messages that the filter selects.
    public init(
        _ filter: EventFilter<WithdrawnEvent> = .any,
        perform body: @escaping @Sendable (WithdrawnEvent, BotContext) async throws -> Void
    ) {
        handler = .withdrawals("restored", isRestored: true, filter, body)
    }
}

extension Handler {
    fileprivate static func withdrawals(
        _ label: String, isRestored: Bool, _ filter: EventFilter<WithdrawnEvent>,
        _ body: @escaping @Sendable (WithdrawnEvent, BotContext) async throws -> Void
    ) -> Handler {
        Handler(label: label) { event, scope in
            guard case .withdrawn(let withdrawn) = event.content, withdrawn.isRestored == isRestored,
                filter.matches(withdrawn, in: scope)
            else { return nil }
            return { try await body(withdrawn, $0) }
        }
    }
}
