/// Handles commands of others: chat messages such as `/roll 2` or `/note "two words"`.
///
/// ```swift
/// OnCommand("roll", help: "Rolls dice.", arguments: [.integer("count", in: 1...20).optional]) { command, context in
///     let rolls = (0..<(command.integer("count") ?? 1)).map { _ in Int.random(in: 1...6) }
///     context.reply(rolls.map(String.init).joined(separator: " + "))
/// }
/// ```
///
/// A mention of the account may precede the command: `@greeter /roll 2`.
public struct OnCommand: HandlerDeclaration {
    /// The handler for the command.
    public let handler: Handler

    /// Creates a handler for a command.
    ///
    /// - Parameters:
    ///   - name: the word after the prefix, without whitespace; case is ignored.
    ///   - help: the description in the list of ``BotHelp``; a command without one is not listed.
    ///   - arguments: the declared arguments; any words by default. A command that does not match them is answered with
    ///     its usage, and `body` does not run.
    ///   - prefix: the text that marks a command.
    ///   - filter: selects among the messages with the command; others are passed to the handlers below.
    ///   - isUrgent: whether the bot's `limits` do not apply to the command, such as for an emergency stop. Its `groups`,
    ///     `triggers` and pauses still do.
    ///   - body: handles a command with valid arguments.
    public init(
        _ name: String, help: String? = nil, arguments: [CommandArgument]? = nil, prefix: String = "/",
        matching filter: EventFilter<MessageEvent> = .any, isUrgent: Bool = false,
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
        handler.isUrgent = isUrgent
        self.handler = handler
    }
}
