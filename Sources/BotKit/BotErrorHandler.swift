/// Is asked when a handler has failed: it may answer the user, and may say that all is well then.
///
/// Nothing of what the failed handler asked for happens; what an error handler asks for does. The first one that says
/// ``Verdict/handled`` ends the matter. Otherwise the error is logged and counted
/// (`bot_handler_errors_total`). A handler that took too long failed with ``BotError/Code/timedOut``.
public struct BotErrorHandler: Sendable {
    public enum Verdict: Sendable, Hashable {
        case handled
        /// The next error handler is asked, in the end log and metrics.
        case passOn
    }

    private let body: @Sendable (any Error, BotContext) async throws -> Verdict

    /// An error handler that throws has passed on, and asked for nothing.
    public init(_ body: @escaping @Sendable (_ error: any Error, _ context: BotContext) async throws -> Verdict) {
        self.body = body
    }

    /// Answers errors of one type with a text, and calls them handled; `text` may return nil to pass on.
    public static func reply<Failure: Error>(
        to type: Failure.Type, _ text: @escaping @Sendable (Failure) -> String?
    ) -> BotErrorHandler {
        BotErrorHandler { error, context in
            guard let error = error as? Failure, let text = text(error) else { return .passOn }
            context.reply(text)
            return .handled
        }
    }

    package func handle(_ error: any Error, _ context: BotContext) async throws -> Verdict {
        try await body(error, context)
    }
}
