/// Handles call signals of others: invitations, answers and hang-ups.
public struct OnCall: HandlerDeclaration {
    public let handler: Handler

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
