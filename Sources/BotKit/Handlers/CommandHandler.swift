/// Handles commands of others: chat messages such as `/ping one "two words"`.
///
/// A mention of the account may stand in front: `@greeter /ping`.
public struct OnCommand: HandlerDeclaration {
    public let handler: Handler

    /// - Parameters:
    ///   - name: The word after the prefix, without blanks; capitals make no difference.
    ///   - prefix: What marks a command.
    public init(
        _ name: String, prefix: String = "/", matching filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (Command, BotContext) async throws -> Void
    ) {
        handler = Handler(label: "command \(name)") { event, scope in
            guard case .message(let message) = event.content,
                let command = Command(message, in: scope, prefix: prefix), command.name == name.lowercased(),
                filter.matches(message, in: scope)
            else { return nil }
            return { try await body(command, $0) }
        }
    }
}
