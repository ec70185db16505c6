/// Handles call signals of others: invitations, answers and hang-ups.
public struct OnCall: HandlerDeclaration {
    /// The handler for call signals.
    public let handler: Handler

    /// Creates a handler for the call signals that the filter selects, such as ``EventFilter/invite``.
    public init(
        _ filter: EventFilter<CallEvent> = .any,
        perform body: @escaping @Sendable (CallEvent, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "call") { event, scope in
            guard case .call(let call) = event.content, filter.matches(call, in: scope) else { return nil }
            return { try await body(call, $0) }
        }
    }
}
