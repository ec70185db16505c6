/// Handles answers of others to hypernotes (kind 9468); the hypernote's id is ``MessageEvent/target``.
///
/// What does not read as an answer is passed on to the handlers below.
public struct OnHypernoteAction: HandlerDeclaration {
    public let handler: Handler

    /// - Parameter name: only this action; nil for all of them.
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
