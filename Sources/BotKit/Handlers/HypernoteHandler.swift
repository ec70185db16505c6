/// Handles others' responses to hypernotes (kind 9468); the hypernote's id is `MessageEvent.target`.
///
/// Events that cannot be parsed as a response are passed to the handlers below.
public struct OnHypernoteAction: HandlerDeclaration {
    /// The handler for responses.
    public let handler: Handler

    /// Creates a handler for responses.
    ///
    /// - Parameters:
    ///   - name: the only action to handle; nil for all of them.
    ///   - filter: selects among the responses; others are passed to the handlers below.
    ///   - body: handles a response.
    public init(
        _ name: String? = nil, _ filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (HypernoteAction, MessageEvent, BotContext) async throws -> Void
    ) {
        handler = Handler(label: name.map { "hypernote action \($0)" } ?? "hypernote action") { event, scope in
            guard case .message(let message) = event.content, message.kind == .hypernoteResponse,
                message.target != nil, let action = HypernoteAction(content: message.content),
                name == nil || action.action == name, filter.matches(message, in: scope)
            else { return nil }
            return { try await body(action, message, $0) }
        }
    }
}
