/// Handles commands of others: chat messages such as `/ping one "two words"`.
///
/// A mention of the account may stand in front: `@greeter /ping`.
public struct OnCommand: HandlerDeclaration {
    public let handler: Handler

    /// - Parameters:
    ///   - name: The word after the prefix, without blanks; capitals make no difference.
    ///   - help: What it does, for the list of ``BotHelp``; without it the command is not listed.
    ///   - arguments: What it takes: a command used otherwise is answered with its usage, and `body` does not run.
    ///     Unless given it takes any words.
    ///   - prefix: What marks a command.
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
            switch usage.read(command) {
            case .success(let command): return { try await body(command, $0) }
            case .failure(let misuse): return { $0.reply(misuse.text) }
            }
        }
        handler.command = usage
        self.handler = handler
    }
}
