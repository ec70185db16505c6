/// Handles commands of others: chat messages such as `/ping one "two words"`.
///
/// A mention of the account may precede it: `@greeter /ping`.
public struct OnCommand: HandlerDeclaration {
    public let handler: Handler

    /// - Parameters:
    ///   - name: The word after the prefix, without whitespace; case is ignored.
    ///   - help: The description in the list of ``BotHelp``; a command without one is not listed.
    ///   - arguments: The declared arguments; any words by default. A command that does not match them is answered with
    ///     its usage, and `body` does not run.
    ///   - prefix: The text that marks a command.
    public init(
        _ name: String, help: String? = nil, arguments: [CommandArgument]? = nil, prefix: String = "/",
        matching filter: EventFilter<MessageEvent> = .any,
        perform body: @escaping @Sendable (Command, BotContext) async throws -> Void
    ) {
        let usage = CommandUsage(name: name.lowercased(), prefix: prefix, arguments: arguments, help: help)
        var handler = Handler(label: "command \(name)") { event, scope in
            guard case .message(let message) = event.content,
                let command = Command(message, in: scope, prefix: prefix), command.name == usage.name,
                filter.matches(message, in: scope)
            else { return nil }
            switch usage.parse(command) {
            case .success(let command): return { try await body(command, $0) }
            case .failure(let misuse): return { $0.reply(misuse.text) }
            }
        }
        handler.command = usage
        self.handler = handler
    }
}
